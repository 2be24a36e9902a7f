import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import {
  ChangeQuery,
  CreatedTokenView,
  CreateTokenDto,
  EmptyBody,
  StatusView,
  TokenPath,
  TokenView,
  type PlanView,
} from '@headgate/api-contracts';
import { ApiTokens, CreateToken, everything, RevokeToken } from '@headgate/access';
import { ApiTokenStore, type ApiToken } from '@headgate/domain-contracts';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';

const DEFAULT_DAYS = 90;

@Controller('api/ext/tokens')
export class TokensController {
  constructor(
    private readonly tokens: ApiTokens,
    private readonly store: ApiTokenStore,
    private readonly createToken: CreateToken,
    private readonly revokeToken: RevokeToken,
  ) {}

  @Needs(everything('manage', { doing: 'Reading the API tokens' }))
  @Get()
  @Describe('The API tokens without their secrets, for administrators.', answerList(200, TokenView))
  list(): TokenView[] {
    return this.store.all().map((token) => this.present(token));
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Creates an API token. The response is the only one that contains it.', answer(201, CreatedTokenView))
  create(
    @Body() { name, actions, scope = {}, days = DEFAULT_DAYS }: CreateTokenDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedTokenView | PlanView> {
    return request.answer(
      query,
      this.createToken,
      [{ name, actions, scope: { ...scope }, days }],
      ({ token, text }) => ({
        ...this.present(token),
        token: text,
      }),
    );
  }

  @Needs(everything('manage'))
  @Delete(':id')
  @Describe('Revokes an API token, and closes its streams and consoles.', answer(200, StatusView))
  revoke(
    @Param() { id }: TokenPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.revokeToken, [id], () => ({ status: 'revoked' }));
  }

  private present({ hash: _hash, actions, scope, ...token }: ApiToken): TokenView {
    return { ...token, actions: [...actions], scope: { ...scope }, expired: this.tokens.isExpired(token) };
  }
}

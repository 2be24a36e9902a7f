import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ChangeQuery,
  ChangeTokenDto,
  CreatedTokenView,
  CreateTokenDto,
  EmptyBody,
  RotateTokenDto,
  StatusView,
  TokenPath,
  TokenView,
  type PlanView,
} from '@headgate/api-contracts';
import { ApiTokens, ChangeToken, CreateToken, everything, RevokeToken, RotateToken } from '@headgate/access';
import { ApiTokenStore, type ApiToken } from '@headgate/domain-contracts';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { presentToken } from './present-token.js';

const DEFAULT_DAYS = 90;

@Controller('api/ext/tokens')
export class TokensController {
  constructor(
    private readonly tokens: ApiTokens,
    private readonly store: ApiTokenStore,
    private readonly createToken: CreateToken,
    private readonly changeToken: ChangeToken,
    private readonly rotateToken: RotateToken,
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
    @Body() { name, actions, scope = {}, addresses, days = DEFAULT_DAYS, agent }: CreateTokenDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedTokenView | PlanView> {
    return request.answer(
      query,
      this.createToken,
      [{ name, actions, scope: { ...scope }, addresses, days, agent: agent && { ...agent } }],
      ({ token, text }) => ({
        ...this.present(token),
        token: text,
      }),
    );
  }

  @Needs(everything('manage'))
  @Patch(':id')
  @Describe(
    'Changes the rights of an API token or how long it is valid, and closes its streams and consoles.',
    answer(200, TokenView),
  )
  change(
    @Param() { id }: TokenPath,
    @Body() { actions, scope, addresses, days, agent }: ChangeTokenDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<TokenView | PlanView> {
    const change = { actions, scope: scope && { ...scope }, addresses, days, agent: agent && { ...agent } };
    return request.answer(query, this.changeToken, [id, change], (token) => this.present(token));
  }

  @Needs(everything('manage'))
  @Post(':id/rotate')
  @HttpCode(200)
  @Describe(
    'Gives an API token a new secret, which only this response contains. The former one is refused at once.',
    answer(200, CreatedTokenView),
  )
  rotate(
    @Param() { id }: TokenPath,
    @Body() { days }: RotateTokenDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<CreatedTokenView | PlanView> {
    return request.answer(query, this.rotateToken, [id, days], ({ token, text }) => ({
      ...this.present(token),
      token: text,
    }));
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

  private present(token: ApiToken): TokenView {
    return presentToken(token, this.tokens.isExpired(token));
  }
}

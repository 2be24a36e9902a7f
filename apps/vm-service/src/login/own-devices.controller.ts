import { Body, Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTokens, ownObjects, RevokeToken, tokenNotFound } from '@headgate/access';
import { ChangeQuery, EmptyBody, StatusView, TokenPath, TokenView, type PlanView } from '@headgate/api-contracts';
import { ApiTokenStore, foldName, type ApiToken, type Caller } from '@headgate/domain-contracts';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentToken } from '../tokens/present-token.js';

/** The API tokens that programs of the caller have by a device login. */
@Controller('api/ext/login/devices')
export class OwnDevicesController {
  constructor(
    private readonly tokens: ApiTokens,
    private readonly store: ApiTokenStore,
    private readonly revokeToken: RevokeToken,
  ) {}

  @Needs(ownObjects)
  @Get()
  @Describe('The programs that may act for the caller; with a token, only its own.', answerList(200, TokenView))
  list(@CurrentCaller() caller: Caller): TokenView[] {
    return this.of(caller).map((token) => presentToken(token, this.tokens.isExpired(token)));
  }

  @Needs(ownObjects)
  @Delete(':id')
  @Describe('Revokes the token of a program of the caller; with a token, only its own.', answer(200, StatusView))
  revoke(
    @Param() { id }: TokenPath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @CurrentCaller() caller: Caller,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    // Those of others do not exist for the caller.
    if (!this.of(caller).some((token) => token.id === id)) throw tokenNotFound(id);
    return request.answer(query, this.revokeToken, [id], () => ({ status: 'revoked' }));
  }

  private of({ login, token }: Caller): readonly ApiToken[] {
    if (login === '') return [];
    const isOwn = ({ id, creator }: ApiToken): boolean =>
      foldName(creator) === foldName(login) && (token === undefined || token === id);
    return this.store.all().filter((one) => one.isOfDevice === true && isOwn(one));
  }
}

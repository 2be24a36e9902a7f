import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ownObjects } from '@headgate/access';
import {
  ChangePasswordDto,
  EmptyBody,
  OwnPasswordDto,
  RecoveryCodesView,
  SessionPath,
  SessionView,
  StatusView,
} from '@headgate/api-contracts';
import { Audit, DomainError, type Caller } from '@headgate/domain-contracts';
import { Accounts, Sessions } from '@headgate/login';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrowserSessions } from '../identity/browser-sessions.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { LoginRequests } from './login-requests.js';
import { presentSession } from './present-session.js';

/** What users do with their own sessions and passwords. */
@Controller('api/ext/login')
export class OwnSessionsController {
  constructor(
    private readonly requests: LoginRequests,
    private readonly sessions: Sessions,
    private readonly accounts: Accounts,
    private readonly browsers: BrowserSessions,
    private readonly audit: Audit,
  ) {}

  @Needs(ownObjects)
  @Get('sessions')
  @Describe('The sessions of the caller, the last used first.', answerList(200, SessionView))
  list(@CurrentCaller() caller: Caller): SessionView[] {
    const id = expectSession(caller);
    return this.sessions
      .all()
      .filter(({ login }) => login === caller.login)
      .map((session) => presentSession(session, id));
  }

  @Needs(ownObjects)
  @Delete('sessions/:id')
  @Describe('Ends a session of the caller, with its streams and consoles.', answer(200, StatusView))
  async end(
    @Param() { id }: SessionPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
  ): Promise<StatusView> {
    expectSession(caller);
    // Those of others do not exist for the caller.
    if (this.sessions.expect(id).login !== caller.login)
      throw new DomainError('SESSION_NOT_FOUND', `There is no session ${id}.`);
    await this.audit.of(caller, 'end session', `session/${id}`, () => this.sessions.end(id));
    return { status: 'ended' };
  }

  @Needs(ownObjects)
  @Post('own-password')
  @HttpCode(200)
  @Describe('Changes the password of the caller, and ends the other sessions.', answer(200, StatusView))
  async changePassword(
    @Body() { current, next }: ChangePasswordDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StatusView> {
    const except = this.requests.expectAccount(caller, request);
    await this.accounts.changePassword(caller.login, { current, next, except }, caller);
    const header = await this.browsers.rotate(request.raw, except);
    if (header !== undefined) void reply.header('set-cookie', header);
    return { status: 'changed' };
  }

  @Needs(ownObjects)
  @Post('recovery-codes')
  @HttpCode(200)
  @Describe('Creates recovery codes for the caller; former ones are refused.', answer(200, RecoveryCodesView))
  async recoveryCodes(
    @Body() { password }: OwnPasswordDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<RecoveryCodesView> {
    this.requests.expectAccount(caller, request);
    return { codes: await this.accounts.createRecoveryCodes(caller.login, password, caller) };
  }
}

/** An API token acts for its creator, but not in the place of their browser. @throws DomainError NOT_SUPPORTED */
function expectSession({ session }: Caller): string {
  if (session !== undefined) return session;
  throw new DomainError('NOT_SUPPORTED', 'Only a browser in which a user has logged in has sessions.');
}

import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { anyVisitor, ownObjects } from '@headgate/access';
import {
  AddPasskeyDto,
  BeginPasskeyDto,
  EmptyBody,
  LoggedInView,
  PasskeyCreationOptionsView,
  PasskeyLoginDto,
  PasskeyLoginOptionsView,
  PasskeyPath,
  PasskeyView,
  StatusView,
} from '@headgate/api-contracts';
import type { Caller, Passkey } from '@headgate/domain-contracts';
import { CHALLENGE_SECONDS, Passkeys, PASSKEY_ALGORITHMS } from '@headgate/login';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HostCookie } from '../identity/host-cookie.js';
import { SecureConnection } from '../identity/secure-connection.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { LoginRequests } from './login-requests.js';

const TIMEOUT_MS = CHALLENGE_SECONDS * 1000;
const TYPE = 'public-key';

/** The login with a passkey, and the passkeys of the caller. */
@Controller('api/ext/login')
export class PasskeysController {
  private readonly cookie: HostCookie;

  constructor(
    private readonly requests: LoginRequests,
    private readonly passkeys: Passkeys,
    connection: SecureConnection,
  ) {
    this.cookie = new HostCookie('headgate-passkey', connection);
  }

  @Needs(anyVisitor)
  @Post('passkey/options')
  @HttpCode(200)
  @Describe('Begins a login with a passkey. The challenge is also in a cookie.', answer(200, PasskeyLoginOptionsView))
  begin(
    @Body() _body: EmptyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): PasskeyLoginOptionsView {
    this.requests.expectLocal(request);
    const { challenge, sealed, relyingParty } = this.passkeys.beginLogin();
    void reply.header('set-cookie', this.cookie.set(request.raw, sealed, CHALLENGE_SECONDS));
    return { challenge, rpId: relyingParty, timeout: TIMEOUT_MS, userVerification: 'required' };
  }

  @Needs(anyVisitor)
  @Post('passkey')
  @HttpCode(200)
  @Describe('Logs in with a passkey. The session is in a cookie.', answer(200, LoggedInView))
  async logIn(
    @Body() body: PasskeyLoginDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoggedInView> {
    this.requests.expectLocal(request);
    const author = this.requests.authorOf(request);
    const { account, passkey } = await this.passkeys.logIn(body, this.cookie.read(request.raw), author);
    void reply.header('set-cookie', this.cookie.set(request.raw, '', 0));
    await this.requests.enter(request, reply, account, `with the passkey ${passkey.name}`);
    return { login: account.login, name: account.name };
  }

  @Needs(ownObjects)
  @Get('passkeys')
  @Describe('The passkeys of the caller, in the order of their registration.', answerList(200, PasskeyView))
  list(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): PasskeyView[] {
    this.requests.expectAccount(caller, request);
    return this.passkeys.of(caller.login).map(present);
  }

  @Needs(ownObjects)
  @Post('passkeys/options')
  @HttpCode(200)
  @Describe('Begins to add a passkey. The challenge is also in a cookie.', answer(200, PasskeyCreationOptionsView))
  async beginAdd(
    @Body() { password }: BeginPasskeyDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PasskeyCreationOptionsView> {
    const session = this.requests.expectAccount(caller, request);
    const begun = await this.passkeys.beginRegistration(caller.login, password, session, caller);
    const { challenge, sealed, relyingParty, account } = begun;
    void reply.header('set-cookie', this.cookie.set(request.raw, sealed, CHALLENGE_SECONDS));
    return {
      challenge,
      rp: { id: relyingParty, name: 'Headgate' },
      user: { id: account.handle, name: account.login, displayName: account.name || account.login },
      pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: TYPE, alg })),
      timeout: TIMEOUT_MS,
      excludeCredentials: (account.passkeys ?? []).map(({ id }) => ({ type: TYPE, id })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    };
  }

  @Needs(ownObjects)
  @Post('passkeys')
  @Describe('Adds a passkey to the account of the caller.', answer(201, PasskeyView))
  async add(
    @Body() { name, transports = [], ...rest }: AddPasskeyDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PasskeyView> {
    const session = this.requests.expectAccount(caller, request);
    const target = { login: caller.login, session, name, sealed: this.cookie.read(request.raw) };
    const passkey = await this.passkeys.register(target, { ...rest, transports }, caller);
    void reply.header('set-cookie', this.cookie.set(request.raw, '', 0));
    return present(passkey);
  }

  @Needs(ownObjects)
  @Delete('passkeys/:id')
  @Describe('Removes a passkey of the caller, and ends their other sessions.', answer(200, StatusView))
  async remove(
    @Param() { id }: PasskeyPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<StatusView> {
    const session = this.requests.expectAccount(caller, request);
    await this.passkeys.remove(caller.login, id, session, caller);
    return { status: 'removed' };
  }
}

const present = ({ id, name, isSynced, copiedAt, createdAt, lastUsedAt }: Passkey): PasskeyView => ({
  id,
  name,
  synced: isSynced,
  refused: copiedAt !== undefined,
  createdAt,
  lastUsedAt: lastUsedAt ?? null,
});

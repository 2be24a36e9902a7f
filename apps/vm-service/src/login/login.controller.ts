import { Body, Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { anyVisitor } from '@headgate/access';
import {
  EmptyBody,
  FirstAccountDto,
  LoggedInView,
  LoggedOutView,
  LoginView,
  PasswordLoginDto,
  RecoverAccountDto,
  SetUpAccountDto,
} from '@headgate/api-contracts';
import { Audit, type Account } from '@headgate/domain-contracts';
import { Accounts, Passkeys, Sessions } from '@headgate/login';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../config/load-config.js';
import { BrowserSessions } from '../identity/browser-sessions.js';
import { SecureConnection } from '../identity/secure-connection.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { SETTINGS } from '../platform/tokens.js';
import { LoginProviders } from './login-providers.js';
import { LoginRequests } from './login-requests.js';

@Controller('api/ext/login')
export class LoginController {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly requests: LoginRequests,
    private readonly accounts: Accounts,
    private readonly passkeys: Passkeys,
    private readonly providers: LoginProviders,
    private readonly browsers: BrowserSessions,
    private readonly sessions: Sessions,
    private readonly connection: SecureConnection,
    private readonly audit: Audit,
  ) {}

  @Needs(anyVisitor)
  @Get()
  @Describe('How users log in.', answer(200, LoginView))
  view(@Req() { raw }: FastifyRequest): LoginView {
    const { login } = this.settings;
    const refusal = login && this.connection.refusal(raw);
    const local = login?.local ?? false;
    return {
      enabled: login !== undefined,
      local,
      first: local && this.accounts.firstSecret() !== undefined,
      providers: this.providers.all.map(({ settings: { id, name } }) => ({ id, name })),
      passkeys: local && this.passkeys.areUsed,
      ...(refusal !== undefined && { refusal }),
    };
  }

  @Needs(anyVisitor)
  @Post('password')
  @HttpCode(200)
  @Describe('Logs in with a password of the service. The session is in a cookie.', answer(200, LoggedInView))
  async password(
    @Body() { login, password }: PasswordLoginDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoggedInView> {
    this.requests.expectLocal(request);
    const account = await this.accounts.logIn(login, password, this.requests.authorOf(request));
    return this.enter(request, reply, account);
  }

  @Needs(anyVisitor)
  @Post('first-account')
  @HttpCode(200)
  @Describe('Creates the first account, an administrator, with the link of the start.', answer(200, LoggedInView))
  async first(
    @Body() { secret, login, name = '', password }: FirstAccountDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoggedInView> {
    this.requests.expectLocal(request);
    const author = this.requests.authorOf(request);
    const account = await this.accounts.createFirst(secret, { login, name, isAdmin: true }, password, author);
    return this.enter(request, reply, account);
  }

  @Needs(anyVisitor)
  @Post('setup')
  @HttpCode(200)
  @Describe('Sets the password of an account with the link of an administrator.', answer(200, LoggedInView))
  async setUp(
    @Body() { login, secret, password }: SetUpAccountDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoggedInView> {
    this.requests.expectLocal(request);
    const account = await this.accounts.setUp(login, secret, password, this.requests.authorOf(request));
    return this.enter(request, reply, account);
  }

  @Needs(anyVisitor)
  @Post('recovery')
  @HttpCode(200)
  @Describe('Sets a new password with a recovery code, and ends the other sessions.', answer(200, LoggedInView))
  async recover(
    @Body() { login, code, password }: RecoverAccountDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoggedInView> {
    this.requests.expectLocal(request);
    const account = await this.accounts.recover(login, code, password, this.requests.authorOf(request));
    return this.enter(request, reply, account);
  }

  @Needs(anyVisitor)
  @Post('logout')
  @HttpCode(200)
  @Describe('Ends the session of the browser with its streams and consoles.', answer(200, LoggedOutView))
  async logOut(
    @Body() _body: EmptyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoggedOutView> {
    this.requests.expectPossible(request);
    void reply.header('set-cookie', this.browsers.clear(request.raw));
    const session = this.browsers.of(request.raw);
    if (!session) return { redirect: null };
    const author = this.requests.authorOf(request);
    await this.audit.of(author, 'log out', `session/${session.id}`, () => this.sessions.end(session.id));
    const home = `${this.connection.originOf(request.raw)}/`;
    // A provider that does not answer must not keep a user from logging out here.
    const url = await this.providers
      .find(session.provider)
      ?.logoutUrl(session.idToken, home)
      .catch(() => undefined);
    return { redirect: url?.href ?? null };
  }

  private async enter(request: FastifyRequest, reply: FastifyReply, account: Account): Promise<LoggedInView> {
    await this.requests.enter(request, reply, account);
    return { login: account.login, name: account.name };
  }
}

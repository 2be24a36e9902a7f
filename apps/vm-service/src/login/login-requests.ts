import { Inject, Injectable } from '@nestjs/common';
import { KnownGroups } from '@headgate/access';
import { Audit, DomainError, type Account, type Author, type Caller } from '@headgate/domain-contracts';
import { Sessions } from '@headgate/login';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../config/load-config.js';
import { BrowserSessions, type SessionUser } from '../identity/browser-sessions.js';
import { CallerIdentity } from '../identity/caller-identity.js';
import { SecureConnection } from '../identity/secure-connection.js';
import { knownCallerOf } from '../platform/caller.decorator.js';
import { SETTINGS } from '../platform/tokens.js';

/** What all requests of the login have in common: whether they are possible, who sends them, and their session. */
@Injectable()
export class LoginRequests {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly connection: SecureConnection,
    private readonly browsers: BrowserSessions,
    private readonly identity: CallerIdentity,
    private readonly sessions: Sessions,
    private readonly audit: Audit,
    private readonly groups: KnownGroups,
  ) {}

  /** @throws DomainError NOT_SUPPORTED without a login; NOT_PERMITTED over a connection that others can read */
  expectPossible({ raw }: FastifyRequest): void {
    if (!this.settings.login) throw new DomainError('NOT_SUPPORTED', 'The configuration of this service has no login.');
    this.connection.expectSafe(raw);
  }

  /** The same for accounts with passwords. */
  expectLocal(request: FastifyRequest): void {
    this.expectPossible(request);
    if (!this.settings.login?.local)
      throw new DomainError('NOT_SUPPORTED', 'The configuration of this service has no accounts with passwords.');
  }

  /** The sender of a request, who may have no identity yet. */
  authorOf(request: FastifyRequest): Author {
    const route = `${request.method} ${request.routeOptions.url ?? ''}`;
    return (
      knownCallerOf(request) ?? {
        login: '',
        name: '',
        origin: { address: this.identity.addressOf(request.raw), route },
      }
    );
  }

  /**
   * A caller who has logged in to an account of the service in this browser. An API token acts for its creator, but not
   * in the place of their browser.
   * @returns the ID of the session
   * @throws DomainError NOT_SUPPORTED for others
   */
  expectAccount({ session }: Caller, request: FastifyRequest): string {
    this.expectLocal(request);
    if (session === undefined)
      throw new DomainError('NOT_SUPPORTED', 'Only a browser in which a user has logged in has sessions.');
    if (this.sessions.expect(session).provider === '') return session;
    throw new DomainError('NOT_SUPPORTED', 'Your account is at the login provider.');
  }

  /** Opens a session for the user of an account. @param where for the journal */
  enter(request: FastifyRequest, reply: FastifyReply, { login, name }: Account, where?: string): Promise<void> {
    return this.open(request, reply, { login, name, groups: [], provider: '' }, where);
  }

  async open(
    request: FastifyRequest,
    reply: FastifyReply,
    user: SessionUser,
    where = user.provider === '' ? 'with a password' : `at ${user.provider}`,
  ): Promise<void> {
    const { origin } = this.authorOf(request);
    const author = { login: user.login, name: user.name, ...(origin && { origin }) };
    const work = async (): Promise<string> => {
      await this.groups.record(user.login, user.groups);
      return this.browsers.open(request.raw, user, origin?.address ?? '');
    };
    const header = await this.audit.of(author, 'log in', `account/${user.login}`, work, () => where);
    void reply.header('set-cookie', header);
  }
}

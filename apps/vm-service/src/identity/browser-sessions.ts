import type { LoginSession } from '@headgate/domain-contracts';
import type { NewSession, Sessions } from '@headgate/login';
import { HostCookie } from './host-cookie.js';
import type { PeerRequest } from './local-trust.js';
import type { SecureConnection } from './secure-connection.js';

/** The user of a new session, without the properties of the request. */
export type SessionUser = Omit<NewSession, 'address' | 'agent'>;

const MAX_AGENT_CHARS = 200;

/** The sessions of browsers, in a cookie that scripts can't read. */
export class BrowserSessions {
  private readonly cookie: HostCookie;

  constructor(
    private readonly settings: { readonly login?: object | undefined },
    private readonly sessions: Sessions,
    private readonly connection: SecureConnection,
  ) {
    this.cookie = new HostCookie('headgate', connection);
  }

  /** Whether users log in here. */
  get areUsed(): boolean {
    return this.settings.login !== undefined;
  }

  /** Reads the session of a request, if another replica may have opened it just now. Call it before `of`. */
  async prepare(request: PeerRequest): Promise<void> {
    const text = this.areUsed ? this.cookie.read(request) : undefined;
    if (text !== undefined) await this.sessions.prepare(text);
  }

  /** The session of a request; undefined without a valid one, or over a connection that others can read. */
  of(request: PeerRequest): LoginSession | undefined {
    if (!this.areUsed || this.connection.refusal(request) !== undefined) return undefined;
    const text = this.cookie.read(request);
    return text === undefined ? undefined : this.sessions.authenticate(text);
  }

  /** Opens a session, and ends the one that the browser had before. @returns the Set-Cookie header */
  async open(request: PeerRequest, user: SessionUser, address: string): Promise<string> {
    const former = this.of(request);
    const agent = (request.headers['user-agent'] ?? '').slice(0, MAX_AGENT_CHARS);
    const { text } = await this.sessions.open({ ...user, address, agent });
    if (former) await this.sessions.end(former.id);
    return this.cookie.set(request, text);
  }

  /** Gives the session of a request a new secret. @returns the Set-Cookie header */
  async rotate(request: PeerRequest, id: string): Promise<string | undefined> {
    const text = await this.sessions.rotate(id);
    return text && this.cookie.set(request, text);
  }

  /** The Set-Cookie header that removes the cookie. */
  clear(request: PeerRequest): string {
    return this.cookie.set(request, '', 0);
  }
}

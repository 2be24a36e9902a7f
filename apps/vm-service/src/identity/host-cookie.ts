import type { PeerRequest } from './local-trust.js';
import type { SecureConnection } from './secure-connection.js';

/**
 * A cookie of this host that scripts can't read. Over TLS its name has a prefix with which browsers accept it only from
 * this host, so no other site can set it.
 */
export class HostCookie {
  constructor(
    private readonly name: string,
    private readonly connection: SecureConnection,
  ) {}

  /** The value; undefined if the cookie occurs twice: one of the two could be of an attacker. */
  read(request: PeerRequest): string | undefined {
    const name = this.nameFor(request);
    const values = (request.headers.cookie ?? '')
      .split(/;\s*/)
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1));
    return values.length === 1 ? values[0] : undefined;
  }

  /** @param seconds until the end of the browser if left out; 0 removes the cookie. @returns the Set-Cookie header */
  set(request: PeerRequest, value: string, seconds?: number): string {
    const secure = this.connection.isEncrypted(request) ? '; Secure' : '';
    const maxAge = seconds === undefined ? '' : `; Max-Age=${seconds}`;
    return `${this.nameFor(request)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${maxAge}`;
  }

  private nameFor(request: PeerRequest): string {
    return this.connection.isEncrypted(request) ? `__Host-${this.name}` : this.name;
  }
}

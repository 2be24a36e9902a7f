import { parseUserId } from '@headgate/matrix-protocol';
import { digest } from '../../homeserver/digest.js';
import { LeastRecentlyUsed } from '../../homeserver/least-recently-used.js';
import type { PeerClient } from '../federation/peer-client.js';

const REMEMBER_MS = 60_000;

/** Checks OpenID tokens of other servers with those servers, but only of servers that the operator trusts. */
export class RemoteOpenId {
  private readonly known = new LeastRecentlyUsed<string, { userId: string; until: number }>(10_000);

  constructor(
    private readonly trusted: readonly string[],
    private readonly peers: PeerClient,
    private readonly now: () => number,
  ) {}

  async userOf(serverName: string, token: string): Promise<string | undefined> {
    if (!this.trusted.includes(serverName)) return undefined;
    const mark = `${serverName} ${digest(token)}`;
    const remembered = this.known.get(mark);
    if (remembered && remembered.until > this.now()) return remembered.userId;
    const path = `/_matrix/federation/v1/openid/userinfo?access_token=${encodeURIComponent(token)}`;
    const answer = await this.peers.getJson(serverName, path).catch(() => undefined);
    const sub = (answer as { sub?: unknown } | undefined)?.sub;
    // A server can only speak for its own users.
    const userId = parseUserId(sub)?.server === serverName ? String(sub) : undefined;
    if (userId !== undefined) this.known.set(mark, { userId, until: this.now() + REMEMBER_MS });
    return userId;
  }
}

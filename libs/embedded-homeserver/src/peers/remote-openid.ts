import { parseUserId } from '@headgate/matrix-protocol';
import { digest, LeastRecentlyUsed } from '@headgate/homeserver-contracts';
import type { PeerClient } from './peer-client.js';

const CACHE_MS = 60_000;

/** Checks OpenID tokens of other servers with those servers, if the operator trusts them. */
export class RemoteOpenId {
  private readonly cache = new LeastRecentlyUsed<string, { userId: string; until: number }>(10_000);

  /** @param now a monotonic clock: a cached token must not outlive a correction of the time */
  constructor(
    private readonly trustedServers: readonly string[],
    private readonly peers: Pick<PeerClient, 'getJson'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The user of a token; undefined if the server is not trusted, can't be asked or does not vouch for it. */
  async userOf(serverName: string, token: string): Promise<string | undefined> {
    if (!this.trustedServers.includes(serverName)) return undefined;
    const cacheKey = `${serverName} ${digest(token)}`;
    const cached = this.cache.get(cacheKey);
    if (cached && cached.until > this.now()) return cached.userId;
    const path = `/_matrix/federation/v1/openid/userinfo?access_token=${encodeURIComponent(token)}`;
    const response = await this.peers.getJson(serverName, path).catch(() => undefined);
    const sub = (response as { sub?: unknown } | undefined)?.sub;
    // A server can only vouch for its own users.
    const userId = parseUserId(sub)?.server === serverName ? String(sub) : undefined;
    if (userId !== undefined) this.cache.set(cacheKey, { userId, until: this.now() + CACHE_MS });
    return userId;
  }
}

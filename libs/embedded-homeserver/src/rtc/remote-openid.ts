import { parseUserId } from '@headgate/matrix-protocol';
import { digest, LeastRecentlyUsed } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Clock } from '@headgate/clock';
import { EmbeddedOptions } from '../embedded-options.js';
import { PeerClient } from '../federation/peer-client.js';

const CACHE_MS = 60_000;

/** Checks OpenID tokens of other servers with those servers, if the operator trusts them. */
@Injectable()
export class RemoteOpenId {
  private readonly cache = new LeastRecentlyUsed<string, { userId: string; until: number }>(10_000);

  constructor(
    private readonly options: EmbeddedOptions,
    private readonly peers: PeerClient,
    private readonly clock: Clock,
  ) {}

  async userOf(serverName: string, token: string): Promise<string | undefined> {
    if (!this.options.trustedServers.includes(serverName)) return undefined;
    const cacheKey = `${serverName} ${digest(token)}`;
    const cached = this.cache.get(cacheKey);
    if (cached && cached.until > this.clock.now()) return cached.userId;
    const path = `/_matrix/federation/v1/openid/userinfo?access_token=${encodeURIComponent(token)}`;
    const response = await this.peers.getJson(serverName, path).catch(() => undefined);
    const sub = (response as { sub?: unknown } | undefined)?.sub;
    // A server can only vouch for its own users.
    const userId = parseUserId(sub)?.server === serverName ? String(sub) : undefined;
    if (userId !== undefined) this.cache.set(cacheKey, { userId, until: this.clock.now() + CACHE_MS });
    return userId;
  }
}

import { parseUserId } from '@headgate/matrix-protocol';
import { digest, LeastRecentlyUsed } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { WallClock } from '../clock.js';
import { EmbeddedOptions } from '../embedded-options.js';
import { PeerClient } from '../federation/peer-client.js';

const REMEMBER_MS = 60_000;

/** Checks OpenID tokens of other servers with those servers, but only of servers that the operator trusts. */
@Injectable()
export class RemoteOpenId {
  private readonly known = new LeastRecentlyUsed<string, { userId: string; until: number }>(10_000);

  constructor(
    private readonly options: EmbeddedOptions,
    private readonly peers: PeerClient,
    private readonly clock: WallClock,
  ) {}

  async userOf(serverName: string, token: string): Promise<string | undefined> {
    if (!this.options.trustedServers.includes(serverName)) return undefined;
    const mark = `${serverName} ${digest(token)}`;
    const remembered = this.known.get(mark);
    if (remembered && remembered.until > this.clock.now()) return remembered.userId;
    const path = `/_matrix/federation/v1/openid/userinfo?access_token=${encodeURIComponent(token)}`;
    const response = await this.peers.getJson(serverName, path).catch(() => undefined);
    const sub = (response as { sub?: unknown } | undefined)?.sub;
    // A server can only speak for its own users.
    const userId = parseUserId(sub)?.server === serverName ? String(sub) : undefined;
    if (userId !== undefined) this.known.set(mark, { userId, until: this.clock.now() + REMEMBER_MS });
    return userId;
  }
}

import type { IncomingMessage } from 'node:http';
import { sourceKey } from '@headgate/limits-nest';
import { TrustedProxies } from '@headgate/nest-kit';

/** The address a request comes from. Only the headers of trusted proxies are believed, and read from the right. */
export class CallerAddress {
  private readonly proxies: TrustedProxies;

  constructor(
    trustedProxies: readonly string[],
    private readonly ipv6Prefix: number,
  ) {
    this.proxies = TrustedProxies.of(trustedProxies);
  }

  of(request: IncomingMessage): { address: string; source: string } {
    const peer = request.socket.remoteAddress ?? '';
    const address = this.proxies.callerAddress(peer, request.headers['x-forwarded-for']);
    return { address, source: sourceKey(address, this.ipv6Prefix) };
  }

  trusts(peer: string): boolean {
    return this.proxies.trusts(peer);
  }
}

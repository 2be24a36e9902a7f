import type { IncomingMessage } from 'node:http';
import { sourceKey } from '@headgate/limits-nest';
import { TrustedProxies } from '@headgate/nest-kit';

/** The address a request comes from. Only the headers of trusted proxies are believed, and read from the right. */
export class CallerAddress {
  private readonly proxies: TrustedProxies;

  constructor(
    trustedProxies: readonly string[],
    private readonly ipv6Prefix: number,
    /** Receives the peers whose header is ignored. */
    private readonly onIgnored: (peer: string) => void = () => undefined,
  ) {
    this.proxies = TrustedProxies.of(trustedProxies);
  }

  of(request: IncomingMessage): { address: string; source: string } {
    const peer = request.socket.remoteAddress ?? '';
    const forwardedFor = request.headers['x-forwarded-for'];
    if (forwardedFor !== undefined && !this.proxies.trusts(peer)) this.ignoreHeaderOf(peer);
    const address = this.proxies.callerAddress(peer, forwardedFor);
    return { address, source: sourceKey(address, this.ipv6Prefix) };
  }

  /** The caller of a request that is not parsed by Node, by its peer and all of its headers. Nothing is reported. */
  behind(peer: string, forwardedFor: readonly string[]): { address: string; source: string } {
    const address = this.proxies.callerAddress(peer, forwardedFor);
    return { address, source: sourceKey(address, this.ipv6Prefix) };
  }

  /** The key of a connection's peer, whatever its requests say. */
  sourceOfPeer(peer: string): string {
    return sourceKey(this.proxies.callerAddress(peer, undefined), this.ipv6Prefix);
  }

  /** Reports that the header of an untrusted peer is ignored. */
  ignoreHeaderOf(peer: string): void {
    this.onIgnored(peer);
  }

  trusts(peer: string): boolean {
    return this.proxies.trusts(peer);
  }
}

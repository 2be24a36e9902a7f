import { isIP } from 'node:net';
import { normalizeAddress } from './address.js';
import { AddressRanges } from './address-ranges.js';

/** The addresses of proxies whose headers about a caller are trusted. */
export class TrustedProxies {
  private constructor(private readonly ranges: AddressRanges) {}

  /**
   * @param entries addresses and CIDRs, such as `127.0.0.0/8`, `::1`, `10.1.2.3`
   * @throws RangeError naming the entry that is neither
   */
  static of(entries: readonly string[]): TrustedProxies {
    return new TrustedProxies(new AddressRanges(entries));
  }

  static readonly loopback: readonly string[] = ['127.0.0.0/8', '::1'];

  trusts(address: string): boolean {
    return this.ranges.has(address);
  }

  /**
   * The address of the caller behind the proxies. `X-Forwarded-For` is read from the right while the hop that added the
   * entry is trusted, so that a caller can't choose an address.
   * @param peer remote address of the connection
   */
  callerAddress(peer: string, forwardedFor: string | readonly string[] | undefined): string {
    let address = normalizeAddress(peer);
    const hops = [forwardedFor ?? []]
      .flat()
      .join(',')
      .split(',')
      .map((hop) => hop.trim())
      .filter(Boolean);
    for (const hop of hops.reverse()) {
      if (!this.trusts(address)) break;
      const next = normalizeAddress(withoutPort(hop));
      if (isIP(next) === 0) break;
      address = next;
    }
    return address;
  }
}

/** Some proxies write `address:port` or `[address]:port`. */
const withoutPort = (hop: string): string => /^(\[.*\]|\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(hop)?.[1] ?? hop;

import { BlockList, isIP } from 'node:net';
import { normalizeAddress } from './address.js';

/** The addresses of proxies whose headers about a caller are trusted. */
export class TrustedProxies {
  private readonly list = new BlockList();

  private constructor() {}

  /**
   * @param entries addresses and CIDRs, such as `127.0.0.0/8`, `::1`, `10.1.2.3`
   * @throws RangeError naming the entry that is neither
   */
  static of(entries: readonly string[]): TrustedProxies {
    const proxies = new TrustedProxies();
    for (const entry of entries) proxies.add(entry);
    return proxies;
  }

  static readonly loopback: readonly string[] = ['127.0.0.0/8', '::1'];

  trusts(address: string): boolean {
    const bare = normalizeAddress(address);
    const family = isIP(bare);
    return family !== 0 && this.list.check(bare, family === 6 ? 'ipv6' : 'ipv4');
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

  private add(entry: string): void {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    const bare = normalizeAddress(address);
    const family = isIP(bare);
    const width = family === 6 ? 128 : 32;
    const prefix = bits === undefined ? width : Number(bits);
    const valid = family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits ?? '0') && prefix <= width;
    if (!valid) throw new RangeError(`"${entry}" is neither an address nor a CIDR such as 10.0.0.0/8`);
    this.list.addSubnet(bare, prefix, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/** Some proxies write `address:port` or `[address]:port`. */
const withoutPort = (hop: string): string => /^(\[.*\]|\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(hop)?.[1] ?? hop;

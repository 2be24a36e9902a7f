import { BlockList, isIP } from 'node:net';
import { normalizeAddress } from './address.js';

/** A set of addresses and networks. */
export class AddressRanges {
  private readonly list = new BlockList();

  /**
   * @param entries addresses and CIDRs, such as `127.0.0.0/8`, `::1`, `10.1.2.3`
   * @throws RangeError naming the entry that is neither
   */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.add(entry);
  }

  /** Whether one of them has an address, which may be written as IPv4-mapped IPv6 or have a zone. */
  has(address: string): boolean {
    const bare = normalizeAddress(address);
    const family = isIP(bare);
    return family !== 0 && this.list.check(bare, family === 6 ? 'ipv6' : 'ipv4');
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

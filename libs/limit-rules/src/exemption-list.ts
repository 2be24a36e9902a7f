import { BlockList, isIP } from 'node:net';
import type { Exemptions, RuleFacts } from './rule.js';

/** Decides which callers are exempt. */
export class ExemptionList {
  private readonly users: ReadonlySet<string>;
  private readonly appservices: ReadonlySet<string>;
  private readonly networks = new BlockList();
  private readonly hasNetworks: boolean;

  /** @param exemptions networks must be valid addresses or CIDRs */
  constructor({ users, appservices, networks }: Exemptions) {
    this.users = new Set(users);
    this.appservices = new Set(appservices);
    this.hasNetworks = networks.length > 0;
    for (const network of networks) {
      const [address = '', prefix] = network.split('/');
      const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      this.networks.addSubnet(address, Number(prefix ?? (type === 'ipv6' ? 128 : 32)), type);
    }
  }

  covers({ user, appservice, address }: Pick<RuleFacts, 'user' | 'appservice' | 'address'>): boolean {
    if (user !== undefined && this.users.has(user)) return true;
    if (appservice !== undefined && this.appservices.has(appservice)) return true;
    return this.hasNetworks && this.containsAddress(address);
  }

  /** A BlockList also finds IPv4 addresses that are mapped into IPv6. */
  private containsAddress(address: string): boolean {
    const [plain = ''] = address.split('%', 1);
    const family = isIP(plain);
    return family !== 0 && this.networks.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  }
}

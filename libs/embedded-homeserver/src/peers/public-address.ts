import { lookup as dnsLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { normalizeAddress } from '@headgate/nest-kit';

/** Special-purpose networks (IANA registries), and those that embed IPv4 addresses. */
const SPECIAL_NETWORKS: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
];

const special = new BlockList();
for (const [network, prefix, family] of SPECIAL_NETWORKS) special.addSubnet(network, prefix, family);
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is on the public internet. */
export function isPublicAddress(address: string): boolean {
  const bare = normalizeAddress(address);
  const family = isIP(bare);
  if (family === 4) return !special.check(bare, 'ipv4');
  return family === 6 && globalUnicast.check(bare, 'ipv6') && !special.check(bare, 'ipv6');
}

export class PrivateAddressError extends Error {
  override name = 'PrivateAddressError';
}

/**
 * Resolves a name for a connection to its public addresses. It checks the very addresses that the connection uses, so
 * DNS cannot change them in between.
 */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, []);
    const open = addresses.filter(({ address }) => isPublicAddress(address));
    const [first] = open;
    if (!first) return done(new PrivateAddressError(`${hostname} has no public address`), []);
    if (options.all) done(null, open);
    else done(null, first.address, first.family);
  });
};

import { isIP } from 'node:net';
import type { LimitedRequest } from './http-route.js';

/** The key that a request counts under; undefined: the rule does not count this request. */
export type RequestKey<Request extends LimitedRequest = LimitedRequest> = (request: Request) => string | undefined;

/** Callers whose address is not known share one key, so that hiding it wins nothing. */
const NO_ADDRESS = 'unknown';

/** Who counts as one caller when nobody says otherwise: a host has a whole /64 to itself. */
const IPV6_PREFIX = 64;

/**
 * Counts by source address. Behind a proxy, `request.ip` is only right once Fastify's `trustProxy` or Express's
 * `trust proxy` lists that proxy.
 * @param ipv6Prefix how many bits of an IPv6 address make one caller
 * @throws RangeError
 */
export function bySource(ipv6Prefix = IPV6_PREFIX): RequestKey {
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128) {
    throw new RangeError(`The IPv6 prefix must be a whole number from 1 to 128, not ${ipv6Prefix}.`);
  }
  return ({ ip = '' }) => sourceKey(ip, ipv6Prefix);
}

/**
 * What a caller is counted by: an IPv4 address, mapped into IPv6 or not, or the network of an IPv6 address
 * (`2001:db8:1:2::/64`). Everybody without a usable address shares one key.
 */
export function sourceKey(address: string, ipv6Prefix = IPV6_PREFIX): string {
  const family = isIP(address);
  if (family === 4) return address;
  if (family === 0) return NO_ADDRESS;
  const groups = groupsOf(address.split('%', 1)[0]!);
  if (isMapped(groups)) return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.');
  const kept = groups.slice(0, Math.ceil(ipv6Prefix / 16));
  const cut = ipv6Prefix % 16;
  if (cut > 0) kept[kept.length - 1]! &= 0xffff << (16 - cut);
  const network = kept.map((group) => group.toString(16)).join(':');
  return `${network}${kept.length < 8 ? '::' : ''}/${ipv6Prefix}`;
}

const isMapped = (groups: readonly number[]): boolean =>
  groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = readGroups(head);
  if (tail === undefined) return before;
  const after = readGroups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const readGroups = (part: string): number[] =>
  part === '' ? [] : part.split(':').flatMap((group) => (group.includes('.') ? dotted(group) : [parseInt(group, 16)]));

function dotted(address: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

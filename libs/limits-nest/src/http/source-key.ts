import { isIP } from 'node:net';
import type { LimitedRequest } from './http-route.js';

/** Returns the key that a request counts under; undefined means that the rule does not apply to it. */
export type RequestKey<Request extends LimitedRequest = LimitedRequest> = (
  request: Request,
) => string | undefined | Promise<string | undefined>;

/** Callers without a known address share one key, so that hiding the address gains nothing. */
const UNKNOWN_ADDRESS = 'unknown';

/** By default, a /64 is one caller: that is the network of a single host. */
const DEFAULT_IPV6_PREFIX_BITS = 64;

/**
 * Counts by source address. Behind a proxy, `request.ip` is only correct if Fastify's `trustProxy` or Express's
 * `trust proxy` lists that proxy.
 * @param ipv6Prefix bits of an IPv6 address that identify one caller
 * @throws RangeError
 */
export function bySource(ipv6Prefix = DEFAULT_IPV6_PREFIX_BITS): (request: LimitedRequest) => string {
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128) {
    throw new RangeError(`The IPv6 prefix must be a whole number from 1 to 128, not ${ipv6Prefix}.`);
  }
  return ({ ip = '' }) => sourceKey(ip, ipv6Prefix);
}

/**
 * The key of a caller by address: the IPv4 address, also if an IPv6 address contains it, or the network of an IPv6
 * address (`2001:db8:1:2::/64`). All callers without a usable address share one key.
 */
export function sourceKey(address: string, ipv6Prefix = DEFAULT_IPV6_PREFIX_BITS): string {
  const family = isIP(address);
  if (family === 4) return address;
  if (family === 0) return UNKNOWN_ADDRESS;
  const groups = groupsOf(address.split('%', 1)[0]!);
  const embedded = embeddedIpv4(groups);
  if (embedded) return embedded.flatMap((group) => [group >> 8, group & 255]).join('.');
  const kept = groups.slice(0, Math.ceil(ipv6Prefix / 16));
  const partialBits = ipv6Prefix % 16;
  if (partialBits > 0) kept[kept.length - 1]! &= 0xffff << (16 - partialBits);
  const network = kept.map((group) => group.toString(16)).join(':');
  return `${network}${kept.length < 8 ? '::' : ''}/${ipv6Prefix}`;
}

/**
 * The IPv4 address, as two groups, of a caller who reaches an IPv6 server through a translator or tunnel. Their /64
 * would be one caller for everyone behind the translator, or 65,536 callers for one host with a 6to4 network.
 */
function embeddedIpv4(groups: readonly number[]): readonly number[] | undefined {
  const startsWith = (...prefix: number[]) => prefix.every((group, index) => groups[index] === group);
  const last = groups.slice(6);
  // IPv4-mapped, and IPv4-translated (RFC 2765).
  if (startsWith(0, 0, 0, 0, 0, 0xffff) || startsWith(0, 0, 0, 0, 0xffff, 0)) return last;
  // The well-known prefix of NAT64 (RFC 6052).
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return last;
  // 6to4 (RFC 3056).
  if (startsWith(0x2002)) return groups.slice(1, 3);
  // Teredo (RFC 4380), which inverts the bits.
  return startsWith(0x2001, 0) ? last.map((group) => group ^ 0xffff) : undefined;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = parseGroups(head);
  if (tail === undefined) return before;
  const after = parseGroups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const parseGroups = (part: string): number[] =>
  part === ''
    ? []
    : part.split(':').flatMap((group) => (group.includes('.') ? parseDotted(group) : [parseInt(group, 16)]));

function parseDotted(address: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

import { isIPv4, isIPv6 } from 'node:net';

/** What a rule may look at: the framework's request. */
export interface LimitedRequest {
  readonly ip?: string;
  readonly body?: unknown;
  readonly params?: unknown;
  readonly query?: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw?: unknown;
}

/** The key that a request counts under; undefined: the rule does not count this request. */
export type RequestKey = (request: LimitedRequest) => string | undefined;

const NO_SOURCE = 'unknown';

/**
 * Counts by source address: IPv4 as it is (mapped into IPv6 or not), IPv6 by its network, since one host has all of it.
 * Requests without a usable address share one key. Behind a proxy, Fastify's `trustProxy` must list it.
 */
export function bySource(ipv6Prefix = 64): RequestKey {
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 16 || ipv6Prefix > 128 || ipv6Prefix % 16 !== 0) {
    throw new RangeError('The IPv6 prefix must be a multiple of 16, from 16 to 128.');
  }
  return ({ ip = '' }) => {
    const address = ip.split('%')[0]!;
    if (isIPv4(address)) return address;
    return isIPv6(address) ? ipv6Key(address, ipv6Prefix) : NO_SOURCE;
  };
}

function ipv6Key(address: string, prefix: number): string {
  const groups = expand(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped) return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.');
  const network = groups.slice(0, prefix / 16).map((group) => group.toString(16));
  return `${network.join(':')}/${prefix}`;
}

/** The eight groups of an IPv6 address. The URL parser knows every way to write one, a dotted tail included. */
function expand(address: string): number[] {
  const [head, tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part = '') => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail)];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

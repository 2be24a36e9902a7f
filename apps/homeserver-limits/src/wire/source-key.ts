import { isIP } from 'node:net';

/** Callers whose address is not known share one key, so that hiding it wins nothing. */
const NO_ADDRESS = 'unknown';

/**
 * What a caller is counted by: an IPv4 address, or the network of an IPv6 address, because a single host owns a whole /64.
 * @param address normalised: IPv4 unmapped, no zone
 */
export function sourceKey(address: string, ipv6Prefix: number): string {
  const family = isIP(address);
  if (family === 0) return NO_ADDRESS;
  if (family === 4) return address;
  const whole = Math.floor(ipv6Prefix / 16);
  const groups = groupsOf(address);
  const rest = ipv6Prefix % 16;
  const kept = groups.slice(0, whole);
  if (rest > 0) kept.push((groups[whole] ?? 0) & (0xffff << (16 - rest)));
  return `${kept.map((group) => group.toString(16)).join(':')}::/${ipv6Prefix}`;
}

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

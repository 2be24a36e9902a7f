import { isIP } from 'node:net';
import { normalizeAddress } from '@headgate/nest-kit';

/** The networks of one prefix length, by their first bits. */
type Networks = Map<number, Set<bigint>>;

/**
 * Addresses and networks. A look-up takes one step for each prefix length that the table has, however many networks
 * there are.
 */
export class PrefixTable {
  private readonly networks: Readonly<Record<4 | 6, Networks>> = { 4: new Map(), 6: new Map() };

  /** @param entries addresses and CIDRs; call `entryProblem` before */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.add(entry);
  }

  has(address: string): boolean {
    const bare = normalizeAddress(address);
    const family = isIP(bare) as 0 | 4 | 6;
    if (family === 0 || this.networks[family].size === 0) return false;
    const bits = bitsOf(bare, family);
    const width = family === 4 ? 32 : 128;
    for (const [prefix, starts] of this.networks[family]) if (starts.has(bits >> BigInt(width - prefix))) return true;
    return false;
  }

  private add(entry: string): void {
    const { address, family, prefix } = split(entry);
    const width = family === 4 ? 32 : 128;
    const starts = this.networks[family as 4 | 6].get(prefix) ?? new Set();
    starts.add(bitsOf(address, family as 4 | 6) >> BigInt(width - prefix));
    this.networks[family as 4 | 6].set(prefix, starts);
  }
}

/** The least prefixes: an entry that denies more than that is a mistake. */
const MIN_PREFIX = { 4: 8, 6: 16 } as const;

/** The problem of an entry of a list; undefined for a valid one. */
export function entryProblem(entry: string): string | undefined {
  const { family, prefix, isPlain } = split(entry);
  if (family === 0 || !isPlain) return 'is neither an address nor a network such as 192.0.2.0/24 or 2001:db8::/32';
  if (prefix > (family === 4 ? 32 : 128)) return `has a prefix beyond ${family === 4 ? 32 : 128}`;
  if (prefix < MIN_PREFIX[family as 4 | 6])
    return `denies too many addresses; the shortest prefix is ${MIN_PREFIX[family as 4 | 6]}`;
  return undefined;
}

/** Whether a text is an address or a network, of any size. */
export function isNetworkText(text: string): boolean {
  const { family, prefix, isPlain } = split(text);
  return family !== 0 && isPlain && prefix >= 0 && prefix <= (family === 4 ? 32 : 128);
}

/** Whether all addresses of the network `inner` are in the network `outer`. Both must be valid. */
export function isWithin(inner: string, outer: string): boolean {
  const [a, b] = [split(inner), split(outer)];
  if (a.family !== b.family || a.prefix < b.prefix) return false;
  const family = a.family as 4 | 6;
  const rest = BigInt((family === 4 ? 32 : 128) - b.prefix);
  return bitsOf(a.address, family) >> rest === bitsOf(b.address, family) >> rest;
}

interface Split {
  readonly address: string;
  readonly family: number;
  readonly prefix: number;
  /** It has no zone, and no more than one prefix in digits. */
  readonly isPlain: boolean;
}

function split(entry: string): Split {
  const [text = '', bits, ...rest] = entry.split('/');
  const address = normalizeAddress(text);
  const family = isIP(address);
  const isMapped = family === 4 && text.includes(':');
  const given = bits === undefined ? undefined : Number(bits) - (isMapped ? 96 : 0);
  const isPlain = rest.length === 0 && !text.includes('%') && /^\d{1,3}$/.test(bits ?? '0');
  return { address, family, prefix: given ?? (family === 4 ? 32 : 128), isPlain };
}

/** The bits of a normalized address. */
function bitsOf(address: string, family: 4 | 6): bigint {
  if (family === 4) return address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = dotted ? address.slice(0, dotted.index) + hexOf(dotted.slice(1).map(Number)) : address;
  const [head = '', tail] = hex.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

const hexOf = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string =>
  `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;

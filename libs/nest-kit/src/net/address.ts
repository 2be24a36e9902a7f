import { isIP } from 'node:net';

/** The canonical form of an IP address: lower case, without a zone, and IPv4 instead of IPv4-mapped IPv6. */
export function normalizeAddress(address: string): string {
  const bare = address
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare);
  if (mapped?.[1] && isIP(mapped[1])) return mapped[1];
  const hexMapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(bare);
  if (hexMapped?.[1] && hexMapped[2]) return dotted(parseInt(hexMapped[1], 16), parseInt(hexMapped[2], 16));
  return bare;
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

import { isIPv4 } from 'node:net';

/**
 * The address to show, from the table of `domifaddr`: name, MAC, protocol, address/prefix.
 * IPv4 first; loopback and link-local addresses say nothing to anybody.
 */
export function pickAddress(table: string): string | undefined {
  const addresses = table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((cells) => cells[0] !== 'lo')
    .map((cells) => cells.at(-1)?.split('/')[0] ?? '')
    .filter((address) => /^[0-9a-f.:]+$/i.test(address) && !/^(127\.|169\.254\.|::1$|fe80:)/i.test(address));
  return addresses.find((address) => isIPv4(address)) ?? addresses.find((address) => address.includes(':'));
}

import { readFile } from 'node:fs/promises';

/** The network interfaces of this machine that have a default route. Source: Linux's /proc/net/route and ipv6_route. */
export async function defaultInterfaces(read: (path: string) => Promise<string> = readText): Promise<string[]> {
  const [ipv4, ipv6] = await Promise.all(['/proc/net/route', '/proc/net/ipv6_route'].map((path) => read(path)));
  const rows = (text: string | undefined): string[][] =>
    (text ?? '').split('\n').map((line) => line.trim().split(/\s+/));
  const found = [
    // Interface, destination, gateway, flags, …, and the mask in the eighth column.
    ...rows(ipv4).flatMap(([name, destination, , , , , , mask]) =>
      destination === '00000000' && mask === '00000000' ? [name] : [],
    ),
    // Destination, its length, …, and the interface in the last column.
    ...rows(ipv6).flatMap((cells) => (/^0{32}$/.test(cells[0] ?? '') && cells[1] === '00' ? [cells.at(-1)] : [])),
  ];
  return [...new Set(found.filter((name) => name !== undefined && name !== 'lo'))] as string[];
}

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

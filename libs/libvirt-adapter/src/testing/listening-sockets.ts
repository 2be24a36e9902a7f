import { readdir, readFile, readlink } from 'node:fs/promises';

/** An address of TCP on which a process listens. */
export interface Listener {
  readonly address: string;
  readonly port: number;
}

const LISTEN = '0A';

/** The TCP sockets of this network namespace on which processes listen, as the kernel reports them. */
export async function listenersOf(pids: readonly number[]): Promise<Listener[]> {
  const inodes = new Set((await Promise.all(pids.map(socketsOf))).flat());
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode = '']) => state === LISTEN && inodes.has(inode))
    .map(([, local = '']) => {
      const [address = '', port = ''] = local.split(':');
      return { address: addressOf(address), port: Number.parseInt(port, 16) };
    });
}

async function socketsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}

/** The kernel prints the words of an address in the byte order of the machine. IPv6 addresses stay as they are. */
const addressOf = (hex: string): string => (hex.length === 8 ? Buffer.from(hex, 'hex').reverse().join('.') : hex);

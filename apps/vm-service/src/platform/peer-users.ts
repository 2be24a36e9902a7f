import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { isIPv4 } from 'node:net';
import { normalizeAddress } from '@headgate/nest-kit';

export type PeerSocket = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Determines which user of this machine is at the other end of a loopback connection. */
export abstract class PeerUsers {
  /** Whether this machine reports the users of sockets. */
  abstract readonly isSupported: boolean;

  /** The numeric user ID of the peer, or undefined when it is unknown. */
  abstract userOf(socket: PeerSocket): number | undefined;
}

/** The tables of the TCP sockets of this machine. Source: https://docs.kernel.org/networking/proc_net_tcp.html */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/**
 * The state of a connection that both sides hold open. A socket in any other state may have lost its owner, and the
 * kernel reports those as root's.
 */
const ESTABLISHED = '01';

/** Reads the users of sockets from Linux's `/proc/net`. */
export class ProcPeerUsers extends PeerUsers {
  override readonly isSupported: boolean;

  constructor(private readonly readTable: (path: string) => string = (path) => readFileSync(path, 'latin1')) {
    super();
    this.isSupported = TABLES.some((path) => this.rows(path).length > 0);
  }

  override userOf({ remoteAddress, remotePort, localAddress, localPort }: PeerSocket): number | undefined {
    if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined;
    const peers = encodings(remoteAddress, remotePort);
    const own = encodings(localAddress, localPort);
    for (const row of TABLES.flatMap((path) => this.rows(path))) {
      const [, local = '', remote = '', state, , , , user] = row.trim().split(/\s+/);
      if (state === ESTABLISHED && peers.includes(local) && own.includes(remote)) return Number(user);
    }
    return undefined;
  }

  private rows(path: string): string[] {
    try {
      return this.readTable(path).split('\n').slice(1).filter(Boolean);
    } catch {
      return [];
    }
  }
}

/** An address and its port as the tables write them: 32-bit words in the byte order of the machine, then the port. */
function encodings(address: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const plain = normalizeAddress(address);
  if (!isIPv4(plain)) return [words(ipv6Bytes(plain)) + suffix];
  const bytes = plain.split('.').map(Number);
  // A socket of a dual-stack program is in the table of IPv6.
  return [words(bytes) + suffix, words([...Array<number>(10).fill(0), 0xff, 0xff, ...bytes]) + suffix];
}

function words(bytes: readonly number[]): string {
  const view = new DataView(Uint8Array.from(bytes).buffer);
  const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
  return Array.from({ length: bytes.length / 4 }, (_, index) =>
    view
      .getUint32(index * 4, isLittleEndian)
      .toString(16)
      .toUpperCase()
      .padStart(8, '0'),
  ).join('');
}

function ipv6Bytes(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const gap = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<number>(gap).fill(0), ...after].flatMap((group) => [group >> 8, group & 255]);
}

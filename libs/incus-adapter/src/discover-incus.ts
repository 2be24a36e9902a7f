import { access, constants } from 'node:fs/promises';
import type { DiscoveredEngine } from '@headgate/domain-contracts';
import type { IncusSettings } from './incus-settings.js';

/** The sockets of the packages, in the order in which they are tried. */
export const LOCAL_SOCKETS = [
  { engine: 'Incus', path: '/run/incus/unix.socket' },
  { engine: 'Incus', path: '/var/lib/incus/unix.socket' },
  { engine: 'LXD', path: '/var/lib/lxd/unix.socket' },
  { engine: 'LXD', path: '/var/snap/lxd/common/lxd/unix.socket' },
] as const;

type LocalSocket = Readonly<Record<'engine' | 'path', string>>;

/** The first daemon of this machine whose socket is writable. */
export async function findLocalSocket(
  sockets: readonly LocalSocket[] = LOCAL_SOCKETS,
): Promise<LocalSocket | undefined> {
  for (const socket of sockets) {
    const isWritable = await access(socket.path, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (isWritable) return socket;
  }
  return undefined;
}

/** The Incus or LXD of this machine. */
export async function discoverIncus(
  sockets?: readonly LocalSocket[],
): Promise<DiscoveredEngine<IncusSettings> | undefined> {
  const found = await findLocalSocket(sockets);
  return (
    found && { context: 'local', settings: { socket: found.path }, description: `${found.engine} on this machine` }
  );
}

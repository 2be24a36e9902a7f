import { formatBytes, type Refusal } from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { foreignSessionRefusal, type Users } from '../host/foreign-session.js';
import type { Host } from '../host/host.js';
import { qemuUser } from './qemu-user.js';
import type { StoragePool, VolumeOwner } from './storage-pool.js';

export interface ServedDisksDeps {
  readonly context: string;
  readonly connection: LibvirtConnection;
  readonly describeHost: () => Promise<Host>;
  readonly pool: StoragePool;
  readonly users?: Users;
}

/** What a guest needs whose disks this service serves, and why it can't have that here. */
export interface ServedDisks {
  readonly host: Host;
  readonly memoryUsedBytes: number;
  /** Absent if QEMU runs as the user of libvirt. */
  readonly owner?: VolumeOwner;
  readonly refusals: readonly Refusal[];
}

/** Longer paths of sockets are refused by the kernel. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Whether a guest of this libvirt can read disks that this service serves on a socket, and has space for its changes.
 * @param socket the path of the socket below the folder of the pool
 */
export async function checkServedDisks(
  { context, connection, describeHost, pool, users }: ServedDisksDeps,
  socket: string,
): Promise<ServedDisks> {
  const [host, usage, owner, foreign, folder, space] = await Promise.all([
    describeHost(),
    connection.host.usage(),
    qemuUser(connection),
    foreignSessionRefusal(connection.uri, users),
    pool.futurePath(),
    pool.space(),
  ]);
  const refusals: Refusal[] = foreign ? [foreign] : [];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push({ code, reason, remedy });
  if (host.isRemote) refuse('NOT_SUPPORTED', `${context} is another machine.`, 'Run the service on that machine.');
  const ownUser = users ? users.own() : process.geteuid?.();
  if (owner !== undefined && ownUser !== 0 && ownUser !== owner.uid)
    refuse(
      'NOT_SUPPORTED',
      `QEMU runs as the user ${owner.uid} on ${context}, who can't read what this service serves.`,
      'Run the service as root, or use a session of libvirt.',
    );
  if (Buffer.byteLength(`${folder}/${socket}`) > MAX_SOCKET_PATH_BYTES)
    refuse(
      'NOT_SUPPORTED',
      `The path of the storage pool ${pool.name} is too long for sockets.`,
      'Use a shorter path.',
    );
  if (space?.isActive && space.availableBytes < SPACE_WATERMARK_BYTES)
    refuse(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free.`,
      `Free some space on the machine: ${formatBytes(SPACE_WATERMARK_BYTES)} must remain free.`,
    );
  return { host, memoryUsedBytes: usage.memoryUsedBytes, ...(owner && { owner }), refusals };
}

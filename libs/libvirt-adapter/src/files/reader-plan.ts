import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPlan, formatBytes, type Plan, type Refusal } from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { READER_FILES, readerNames } from '../domains/proof-names.js';
import { foreignSessionRefusal, type Users } from '../host/foreign-session.js';
import type { Host } from '../host/host.js';
import { qemuUser } from '../storage/qemu-user.js';
import type { StoragePool, VolumeOwner } from '../storage/storage-pool.js';

export interface ReaderPlanDeps {
  readonly context: string;
  readonly connection: LibvirtConnection;
  readonly describeHost: () => Promise<Host>;
  readonly pool: StoragePool;
  /** The folder with the kernel and the RAM disk of the reader guest; absent where there is none. */
  readonly readerGuest?: string;
  readonly users?: Users;
}

/** A plan, with the facts that were gathered for it. */
export interface PlannedReader {
  readonly plan: Plan;
  readonly host: Host;
  /** Absent if QEMU runs as the user of libvirt. */
  readonly owner?: VolumeOwner;
}

/** Reader guests at the same time, of one service on one host. */
export const MAX_READERS = 3;
export const READER_MEMORY_BYTES = 256 * 1024 ** 2;
/** QEMU needs it besides the memory of the guest. */
const OVERHEAD_BYTES = 128 * 1024 ** 2;
const MAX_DISKS = 24;
/** Longer paths of sockets are refused by the kernel. */
const MAX_SOCKET_PATH_BYTES = 107;

/** @param running the number of other reader guests, which may not have touched their memory yet */
export async function planReader(
  { id, diskCount }: { readonly id: string; readonly diskCount: number },
  deps: ReaderPlanDeps,
  running: number,
): Promise<PlannedReader> {
  const { connection, context, pool, readerGuest, users } = deps;
  const refusals: Refusal[] = [];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push({ code, reason, remedy });
  const [host, usage, owner, foreign, folder, hasGuest] = await Promise.all([
    deps.describeHost(),
    connection.host.usage(),
    qemuUser(connection),
    foreignSessionRefusal(connection.uri, users),
    pool.futurePath(),
    readerGuest === undefined ? false : hasReaderGuest(readerGuest),
  ]);
  if (foreign) refusals.push(foreign);
  if (host.isRemote) refuse('NOT_SUPPORTED', `${context} is another machine.`, 'Run the service on that machine.');
  if (!hasGuest)
    refuse(
      'NOT_SUPPORTED',
      'The guest that reads files is not there: it is built from packages of the distribution.',
      'Build it with tools/reader-guest/build.mjs, and start the service with --reader-guest and its folder.',
    );
  if (host.arch !== 'x86_64')
    refuse(
      'NOT_SUPPORTED',
      `${context} is ${host.arch}, and the guest that reads files is for x86_64.`,
      'Choose another context.',
    );
  const ownUser = users ? users.own() : process.geteuid?.();
  if (owner !== undefined && ownUser !== 0 && ownUser !== owner.uid)
    refuse(
      'NOT_SUPPORTED',
      `QEMU runs as the user ${owner.uid} on ${context}, who can't read what this service serves.`,
      'Run the service as root, or use a session of libvirt.',
    );
  if (Buffer.byteLength(`${folder}/${readerNames(id).folder}/${READER_FILES.disks}`) > MAX_SOCKET_PATH_BYTES)
    refuse(
      'NOT_SUPPORTED',
      `The path of the storage pool ${pool.name} is too long for sockets.`,
      'Use a shorter path.',
    );
  if (running >= MAX_READERS)
    refuse('BUSY', `${context} has ${running} guests that read files already.`, 'Close one of them.');
  if (diskCount === 0 || diskCount > MAX_DISKS)
    refuse('NOT_SUPPORTED', `The VM has ${diskCount} disks.`, `Files are read from 1 to ${MAX_DISKS} disks.`);
  const needed = READER_MEMORY_BYTES + OVERHEAD_BYTES;
  const freeBytes = Math.max(0, host.memoryBytes - usage.memoryUsedBytes - running * needed);
  if (host.memoryBytes > 0 && needed > freeBytes)
    refuse(
      'WRONG_STATE',
      `${context} has ${formatBytes(freeBytes)} of memory free, and the guest that reads files needs ${formatBytes(needed)}.`,
      'Stop a VM there.',
    );
  const space = await pool.space();
  if (space?.isActive && space.availableBytes < SPACE_WATERMARK_BYTES)
    refuse(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free.`,
      `Free some space on the machine: ${formatBytes(SPACE_WATERMARK_BYTES)} must remain free.`,
    );
  const detail = `Boot a guest in ${context} that reads the disks, without a network. Nothing is copied or changed.`;
  const warnings = host.accelerator === 'tcg' ? ['KVM is not available on the machine, so the guest is slow.'] : [];
  return { plan: buildPlan([{ name: 'open', detail }], { refusals, warnings }), host, ...(owner && { owner }) };
}

async function hasReaderGuest(folder: string): Promise<boolean> {
  const sizes = await Promise.all(
    ['kernel', 'initrd'].map(async (file) => (await stat(join(folder, file)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.every((size) => size > 0);
}

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import { DomainError, formatBytes, type Refusal } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { INSTANCE_PREFIX, type InstanceMetadata, type VolumeRole } from '../domain-xml/instance-metadata.js';
import type { FoundDisks } from '../snapshots/snapshot-disks.js';
import { DiskUsage } from '../storage/disk-usage.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { MigrationHost } from './migration-host.js';

/** A volume that the destination does not have yet. */
export interface VolumeCopy {
  readonly target: string;
  /** The name, which is the same on both hosts. */
  readonly name: string;
  readonly format: 'qcow2' | 'raw';
  readonly bytes: number;
  /** Whether this service copies it: libvirt copies only the disks that the guest writes to. */
  readonly isReadonly: boolean;
}

/** Volumes that libvirt and QEMU create on the destination, with the domain. */
export const CREATED_THERE: readonly VolumeRole[] = ['nvram', 'serial-log'];

/**
 * Whether both hosts have the same folder behind their pools. Only a file that one of them creates and the other one
 * finds is a proof: equal names, paths and sizes are not. The file is removed immediately.
 */
export async function isSharedPool(source: MigrationHost, destination: MigrationHost): Promise<boolean> {
  if (!(await destination.pool.state())?.isActive) return false;
  const probe = `${INSTANCE_PREFIX}-probe-${randomBytes(8).toString('hex')}`;
  try {
    await source.pool.createBlank(probe, 0, 'raw');
    return (await destination.pool.volumes()).includes(probe);
  } finally {
    await source.pool.remove(probe);
    // The destination's libvirt remembers what it has listed.
    await destination.pool.volumes().catch(() => undefined);
  }
}

/** The volumes that have to be copied, and the reasons why some can't. */
export async function findCopies(
  { name, uuid, disks, metadata }: DomainDescription,
  found: FoundDisks,
  pool: StoragePool,
): Promise<{ readonly copies: readonly VolumeCopy[]; readonly refusals: readonly Refusal[] }> {
  const folder = await pool.path();
  const copies: VolumeCopy[] = [];
  const refusals: Refusal[] = [];
  if (metadata.snapshots.length > 0)
    refusals.push({
      code: 'WRONG_STATE',
      reason: `${name} has snapshots, which can't be copied to another storage.`,
      remedy: 'Delete its snapshots first.',
    });
  const writable = new Set(found.disks.map(({ target }) => target));
  const seeds = new Set(
    metadata.owner === uuid ? metadata.volumes.filter(({ role }) => role === 'seed').map((one) => one.name) : [],
  );
  for (const { target, path, pool: otherPool } of disks) {
    if (path === undefined && otherPool === undefined) continue;
    const volume = basename(path ?? '');
    const isSeed = path !== undefined && dirname(path) === folder && seeds.has(volume);
    if (!writable.has(target) && !isSeed) {
      refusals.push({
        code: 'WRONG_STATE',
        reason: `The disc in the drive ${target} of ${name} is not on the destination.`,
        remedy: 'Eject it first.',
      });
      continue;
    }
    // A disk that is refused for another reason may have no volume.
    if (found.refusals.length > 0) continue;
    const { format, bytes } = await pool.describe(volume);
    copies.push({ target, name: volume, bytes, format: format === 'qcow2' ? 'qcow2' : 'raw', isReadonly: isSeed });
  }
  return { copies, refusals };
}

/**
 * Whether the copies fit. Disks are thin at first, so that only a disk larger than the whole pool certainly does not.
 */
export async function checkDestinationSpace(
  { context, pool }: MigrationHost,
  copies: readonly VolumeCopy[],
): Promise<{ readonly warnings: readonly string[]; readonly refusals: readonly Refusal[] }> {
  const space = await pool.space();
  if (!space || space.capacityBytes === 0) return { warnings: [], refusals: [] };
  const total = copies.reduce((sum, { bytes }) => sum + bytes, 0);
  if (space.availableBytes < SPACE_WATERMARK_BYTES || total > space.capacityBytes) {
    const reason = `The storage pool ${pool.name} of ${context} has ${formatBytes(space.availableBytes)} free, and the disks have up to ${formatBytes(total)}.`;
    return {
      warnings: [],
      refusals: [{ code: 'INSUFFICIENT_STORAGE', reason, remedy: `Free some space on ${context}.` }],
    };
  }
  if (total <= space.availableBytes) return { warnings: [], refusals: [] };
  const warning = `The disks may grow to ${formatBytes(total)}, which is more than the ${formatBytes(space.availableBytes)} that are free on ${context}.`;
  return { warnings: [warning], refusals: [] };
}

/** What the domain owns on the destination. */
export function metadataThere(
  { pending: _done, ...metadata }: InstanceMetadata,
  copies: readonly VolumeCopy[],
  isShared: boolean,
): InstanceMetadata {
  if (isShared) return metadata;
  const names = new Set(copies.map(({ name }) => name));
  const volumes = metadata.volumes.filter(({ name, role }) => names.has(name) || CREATED_THERE.includes(role));
  return { ...metadata, volumes };
}

/**
 * Creates the volumes on the destination: blank ones, into which libvirt copies while the guest runs, and complete ones
 * of those that the guest only reads.
 * @param created receives each name before its volume is created
 */
export async function createCopies({
  source,
  destination,
  copies,
  created,
  createTemporaryFolder,
  signal,
}: CopyDeps): Promise<void> {
  await destination.pool.ensure();
  const present = new Set(await destination.pool.volumes());
  const taken = copies.find(({ name }) => present.has(name));
  if (taken)
    throw new DomainError(
      'ALREADY_EXISTS',
      `The storage pool of ${destination.context} already has a volume ${taken.name}.`,
    );
  for (const { name, bytes, format, isReadonly } of copies) {
    signal.throwIfAborted();
    created(name);
    if (!isReadonly) await destination.pool.createBlank(name, bytes, format);
    else {
      const folder = await createTemporaryFolder();
      try {
        const file = join(folder, 'volume');
        await source.connection.storage.download({ pool: source.pool.name, name }, file, { signal });
        await destination.pool.createFrom(name, file, { signal });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
  }
}

export interface CopyDeps {
  readonly source: MigrationHost;
  readonly destination: MigrationHost;
  readonly copies: readonly VolumeCopy[];
  readonly created: (name: string) => void;
  readonly createTemporaryFolder: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** Removes copies of a migration that has failed. A volume that a domain of that host uses is never removed. */
export async function removeCopies(
  { connection, finder, pool }: MigrationHost,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0 || !(await pool.state())?.isActive) return;
  const folder = await pool.path();
  const present = new Set(await pool.volumes());
  const usage = await DiskUsage.read(connection, finder);
  for (const name of names)
    if (present.has(name) && usage.usersOf(`${folder}/${name}`).length === 0) await pool.remove(name);
}

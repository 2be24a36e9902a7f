import { DomainError } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { readingRefusal, type CopyableDisk } from '../moves/copyable-disks.js';
import type { StoragePool } from '../storage/storage-pool.js';

/**
 * The volumes with the disks of a snapshot, to which no guest writes.
 * @throws DomainError SNAPSHOT_NOT_FOUND, BUSY while it is being deleted, VOLUME_NOT_FOUND, BACKEND_FORBIDDEN
 */
export async function snapshotVolumes(
  { name: vm, metadata, disks }: DomainDescription,
  snapshot: string,
  pool: Pick<StoragePool, 'describe'>,
): Promise<readonly CopyableDisk[]> {
  const found = metadata.snapshots.find(({ name }) => name === snapshot);
  if (!found) throw new DomainError('SNAPSHOT_NOT_FOUND', `${vm} has no snapshot ${snapshot}.`);
  if (found.isDeleting) throw new DomainError('BUSY', `The snapshot ${snapshot} of ${vm} is being deleted.`);
  const volumes: CopyableDisk[] = [];
  for (const { target, name } of found.disks) {
    const { path, format } = await pool.describe(name);
    const disk: CopyableDisk = { target, path, format, bus: 'virtio' };
    const refusal = await readingRefusal(disk);
    if (refusal) throw new DomainError(refusal.code, refusal.reason);
    volumes.push(disk);
  }
  if (volumes.length === 0 || disks.length === 0)
    throw new DomainError('NOT_SUPPORTED', `The snapshot ${snapshot} of ${vm} has no disks.`);
  return volumes;
}

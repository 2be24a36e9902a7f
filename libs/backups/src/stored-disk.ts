import { DomainError, type ProofDisk } from '@headgate/domain-contracts';
import { diskPath } from './backup-point.js';
import type { BackupStore, StoredFile } from './backup-store.js';
import type { Manifest } from './manifest.js';

/** A disk of a point. */
export interface StoredDisk extends ProofDisk {
  /** The whole content in order. Every part is verified. @throws DomainError BACKEND_FAILED for a damaged one */
  content: StoredFile['content'];
}

export const wrongSize = (name: string, sizeBytes: number): DomainError =>
  new DomainError('BACKEND_FAILED', `The disk ${name} of the backup has ${sizeBytes} bytes.`);

/** @throws DomainError BACKEND_FAILED if it has another size than the manifest says */
export async function openDisk(
  store: BackupStore,
  point: string,
  { name, sizeBytes }: Pick<ProofDisk, 'name' | 'sizeBytes'>,
): Promise<StoredDisk> {
  const file = await store.openFile(point, diskPath(name));
  if (file.sizeBytes !== sizeBytes) throw wrongSize(name, file.sizeBytes);
  return {
    name,
    sizeBytes,
    read: (offset, length) => file.read(offset, length),
    content: (signal) => file.content(signal),
  };
}

/** All disks of a point, in the order of the manifest. @throws DomainError as `openDisk` */
export async function openDisks(store: BackupStore, point: string, { vm }: Manifest): Promise<StoredDisk[]> {
  const disks: StoredDisk[] = [];
  for (const disk of vm.disks) disks.push(await openDisk(store, point, disk));
  return disks;
}

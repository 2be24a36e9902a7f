import { DomainError, type BackupDisk, type DiskExtent } from '@headgate/domain-contracts';
import type { StoredFile } from './backup-store.js';

/** The backup that has the unchanged parts can't be read, so that a new one has to read everything. */
export class ParentUnreadable extends DomainError {
  constructor(cause: unknown) {
    super('BACKEND_FAILED', 'The former backup can not be read.', { cause });
  }
}

/**
 * Reads the changed parts of a disk from its reading, and all others from the former backup. Parts by which the disk
 * has grown since then are zeros until they are written.
 * @param disk.changed in the order of the disk, not overlapping
 * @throws ParentUnreadable
 */
export function withParent(
  { changed, read }: Pick<BackupDisk, 'read'> & { readonly changed: readonly DiskExtent[] },
  parent: Pick<StoredFile, 'sizeBytes' | 'read'>,
): BackupDisk['read'] {
  return async (offset, length) => {
    const end = offset + length;
    const content = Buffer.alloc(length);
    let at = offset;
    const fillFromParent = async (to: number): Promise<void> => {
      const wanted = Math.min(to, parent.sizeBytes) - at;
      if (wanted > 0) (await readParent(parent, at, wanted)).copy(content, at - offset);
    };
    for (let next = firstEndingAfter(changed, offset); at < end; next++) {
      const extent = changed[next] ?? { offset: end, length: 0 };
      const [from, to] = [Math.max(at, extent.offset), Math.min(extent.offset + extent.length, end)];
      await fillFromParent(Math.min(from, end));
      if (to > from) (await read(from, to - from)).copy(content, from - offset);
      at = Math.max(to, Math.min(from, end));
    }
    return content;
  };
}

async function readParent(parent: Pick<StoredFile, 'read'>, offset: number, length: number): Promise<Buffer> {
  const bytes = await parent.read(offset, length).catch((error: unknown) => {
    throw new ParentUnreadable(error);
  });
  if (bytes.length !== length) throw new ParentUnreadable(new Error(`It has ${bytes.length} bytes of ${length}.`));
  return bytes;
}

function firstEndingAfter(extents: readonly DiskExtent[], offset: number): number {
  let [low, high] = [0, extents.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const extent = extents[middle];
    if (extent && extent.offset + extent.length <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

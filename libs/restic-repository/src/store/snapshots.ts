import { isId } from '../format/json.js';
import { decodeSnapshot } from '../format/snapshot-file.js';
import { DamagedError, FileNotFoundError, SnapshotNotFoundError } from '../model/errors.js';
import type { Snapshot } from '../model/types.js';
import type { SealedFiles } from './sealed-files.js';

/** @throws SnapshotNotFoundError, DamagedError */
export async function loadSnapshot(files: SealedFiles, id: string): Promise<Snapshot> {
  const missing = `snapshotId: the repository has no snapshot ${JSON.stringify(id)}.`;
  if (!isId(id)) throw new SnapshotNotFoundError(`${missing} Use a full ID of 64 digits.`);
  try {
    return decodeSnapshot(await files.load('snapshots', id), id, `snapshots/${id}`);
  } catch (error) {
    if (error instanceof FileNotFoundError) throw new SnapshotNotFoundError(missing);
    throw error;
  }
}

export interface LoadedSnapshots {
  /** The oldest first. */
  readonly snapshots: readonly Snapshot[];
  readonly damaged: readonly DamagedError[];
}

export async function loadSnapshots(files: SealedFiles): Promise<LoadedSnapshots> {
  const snapshots: Snapshot[] = [];
  const damaged: DamagedError[] = [];
  for (const { name } of await files.target.list('snapshots')) {
    try {
      snapshots.push(await loadSnapshot(files, name));
    } catch (error) {
      if (error instanceof DamagedError) damaged.push(error);
      // A snapshot may be forgotten while the list is read.
      else if (!(error instanceof SnapshotNotFoundError)) throw error;
    }
  }
  snapshots.sort((a, b) => Date.parse(a.time) - Date.parse(b.time) || (a.id < b.id ? -1 : 1));
  return { snapshots, damaged };
}

import { decodeIndex, type PackEntries } from '../format/index-file.js';
import { DamagedError, FileNotFoundError } from '../model/errors.js';
import { BlobIndex } from './blob-index.js';
import { readPackHeader } from './pack-reader.js';
import type { SealedFiles } from './sealed-files.js';

/** The index of a repository, read from its files. */
export interface LoadedIndex {
  readonly blobs: BlobIndex;
  /** The names of the index files, also of damaged ones. */
  readonly files: ReadonlySet<string>;
  readonly damaged: readonly DamagedError[];
  /** Packs that no readable index file lists. They were read from their own headers because an index is damaged. */
  readonly recovered: readonly PackEntries[];
}

/**
 * Reads all index files. If one is damaged, the headers of the packs replace it.
 * @param previous is extended if the repository still has all of its files
 */
export async function loadIndex(files: SealedFiles, previous?: LoadedIndex): Promise<LoadedIndex> {
  const names = new Set((await files.target.list('index')).map(({ name }) => name));
  const isContinued = previous?.damaged.length === 0 && [...previous.files].every((name) => names.has(name));
  const blobs = isContinued ? previous.blobs : new BlobIndex();
  const damaged: DamagedError[] = [];
  for (const name of [...names].sort()) {
    if (isContinued && previous.files.has(name)) continue;
    try {
      for (const pack of decodeIndex(await files.load('index', name), `index/${name}`)) blobs.add(pack);
    } catch (error) {
      // Another process has replaced it since the list was read.
      if (error instanceof FileNotFoundError) return loadIndex(files);
      if (!(error instanceof DamagedError)) throw error;
      damaged.push(error);
    }
  }
  const recovered = damaged.length === 0 ? [] : await recoverPacks(files, blobs);
  return { blobs, files: names, damaged, recovered };
}

async function recoverPacks(files: SealedFiles, blobs: BlobIndex): Promise<PackEntries[]> {
  const recovered: PackEntries[] = [];
  for (const { name, size } of await files.target.list('data')) {
    if (blobs.hasPack(name)) continue;
    try {
      recovered.push({ id: name, blobs: await readPackHeader(files, name, size) });
    } catch (error) {
      // Without index and header, the blobs of the pack are lost, which `check` reports.
      if (!(error instanceof DamagedError) && !(error instanceof FileNotFoundError)) throw error;
    }
  }
  for (const pack of recovered) blobs.add(pack);
  return recovered;
}

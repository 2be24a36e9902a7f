import { type BlobEntry, sha256 } from '../format/blobs.js';
import { DamagedError, FileNotFoundError } from '../model/errors.js';
import type { CheckProblem } from '../model/types.js';
import type { BlobIndex } from '../store/blob-index.js';
import { openBlob } from '../store/blob-reader.js';
import { headerOf } from '../store/pack-reader.js';
import type { SealedFiles } from '../store/sealed-files.js';
import type { ListedFile } from '../target/repository-target.js';

/** Larger packs are not read at once; restic's have at most 128 MiB and the rest of one blob. */
const MAX_PACK_BYTES = 512 << 20;

export interface PackResult {
  readonly problems: readonly CheckProblem[];
  /** IDs of blobs whose copy in this pack is damaged. */
  readonly damagedBlobs: readonly string[];
}

const problem = (kind: CheckProblem['kind'], id: string, message: string): CheckProblem => ({ kind, id, message });

/**
 * Reads a pack and verifies its hash, its header, and the MAC and hash of each blob.
 * @param expected what the index says about it
 */
export async function checkPack(
  files: SealedFiles,
  { name, size }: ListedFile,
  expected: readonly BlobEntry[],
): Promise<PackResult> {
  if (size > MAX_PACK_BYTES) return unreadable(name, `data/${name} has ${size} bytes, which is no pack.`, expected);
  let bytes: Uint8Array;
  try {
    bytes = await files.target.read('data', name);
  } catch (error) {
    if (error instanceof FileNotFoundError) return unreadable(name, error.message, expected);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EIO') throw error;
    return unreadable(name, `data/${name} can't be read: ${code}.`, expected);
  }
  if (sha256(bytes) === name && isAsIndexed(files, name, bytes, expected))
    return checkBlobs(files, bytes, expected, []);
  const problems = [problem('pack', name, describe(files, name, bytes))];
  return checkBlobs(files, bytes, expected, problems);
}

const unreadable = (name: string, message: string, expected: readonly BlobEntry[]): PackResult => ({
  problems: [problem('pack', name, message)],
  damagedBlobs: expected.map(({ id }) => id),
});

function isAsIndexed(files: SealedFiles, name: string, bytes: Uint8Array, expected: readonly BlobEntry[]): boolean {
  try {
    const header = new Map(headerOf(files, name, bytes).map((entry) => [entry.offset, entry]));
    return expected.every((entry) => {
      const found = header.get(entry.offset);
      return found?.id === entry.id && found.type === entry.type && found.length === entry.length;
    });
  } catch (error) {
    if (error instanceof DamagedError) return false;
    throw error;
  }
}

function describe(files: SealedFiles, name: string, bytes: Uint8Array): string {
  if (sha256(bytes) !== name) return `data/${name} is damaged: its content does not match its name.`;
  try {
    headerOf(files, name, bytes);
    return `data/${name} has other blobs than the index says.`;
  } catch (error) {
    return (error as Error).message;
  }
}

async function checkBlobs(
  files: SealedFiles,
  bytes: Uint8Array,
  expected: readonly BlobEntry[],
  problems: CheckProblem[],
): Promise<PackResult> {
  const damagedBlobs: string[] = [];
  for (const entry of expected) {
    try {
      await openBlob(files, bytes.subarray(entry.offset, entry.offset + entry.length), entry);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      problems.push(problem('blob', entry.id, error.message));
      damagedBlobs.push(entry.id);
    }
  }
  return { problems, damagedBlobs };
}

/** The blobs of each pack as the index has them. */
export function entriesByPack(index: BlobIndex): Map<string, BlobEntry[]> {
  const packs = new Map<string, BlobEntry[]>(index.packs.map((pack) => [pack, []]));
  for (const location of index.all()) packs.get(location.pack)?.push(location);
  return packs;
}

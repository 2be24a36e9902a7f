import type { BlobType } from '../format/blobs.js';
import type { BlobIndex, BlobLocation } from '../store/blob-index.js';
import type { ListedFile } from '../target/repository-target.js';
import { missing, type UsedBlobs } from './used-blobs.js';

/** What a prune does with the packs. */
export interface PrunePlan {
  readonly keep: ReadonlySet<string>;
  /** The needed blobs of packs that are written again. */
  readonly move: readonly BlobLocation[];
  readonly repack: ReadonlySet<string>;
  /** Packs without any needed blob. */
  readonly remove: ReadonlySet<string>;
  readonly unusedBytes: number;
}

/** @throws MissingBlobError if a needed blob is in no pack */
export function planPrune(
  packs: readonly ListedFile[],
  index: BlobIndex,
  used: UsedBlobs,
  repackAbove: number,
): PrunePlan {
  const sizes = new Map(packs.map(({ name, size }) => [name, size]));
  const needed = neededCopies(sizes, index, used);
  const keep = new Set<string>();
  const repack = new Set<string>();
  const remove = new Set<string>();
  let unusedBytes = 0;
  for (const { name, size } of packs) {
    const usedBytes = (needed.get(name) ?? []).reduce((sum, { length }) => sum + length, 0);
    // The header of a pack is neither used nor unused.
    const unused = Math.max(0, size - usedBytes - headerBytes(size, usedBytes, needed.get(name)?.length ?? 0));
    if (usedBytes === 0) remove.add(name);
    else if (unused > repackAbove * size) repack.add(name);
    else {
      keep.add(name);
      unusedBytes += unused;
    }
  }
  const move = [...repack].flatMap((name) => needed.get(name) ?? []);
  return { keep, move, repack, remove, unusedBytes };
}

const ENTRY_BYTES = 41;
const HEADER_BYTES = 36;

const headerBytes = (size: number, used: number, blobs: number): number =>
  Math.min(size - used, blobs * ENTRY_BYTES + HEADER_BYTES);

/** One copy of each needed blob, by pack. */
function neededCopies(
  sizes: ReadonlyMap<string, number>,
  index: BlobIndex,
  used: UsedBlobs,
): Map<string, BlobLocation[]> {
  const needed = new Map<string, BlobLocation[]>();
  for (const type of ['data', 'tree'] satisfies BlobType[]) {
    for (const id of used[type]) {
      const exists = index
        .find(type, id)
        .filter(({ pack, offset, length }) => offset + length <= (sizes.get(pack) ?? -1));
      const copy = exists.find(({ pack }) => needed.has(pack)) ?? exists[0];
      if (!copy) throw missing(id);
      const list = needed.get(copy.pack) ?? [];
      list.push(copy);
      needed.set(copy.pack, list);
    }
  }
  return needed;
}

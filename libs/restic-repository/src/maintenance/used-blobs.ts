import type { BlobType } from '../format/blobs.js';
import { MissingBlobError } from '../model/errors.js';
import { SnapshotTree } from '../reading/snapshot-tree.js';
import { BlobReader } from '../store/blob-reader.js';
import type { IndexCache } from '../store/index-cache.js';
import type { SealedFiles } from '../store/sealed-files.js';
import { loadSnapshots } from '../store/snapshots.js';
import { TreeWalk } from './tree-walk.js';

export interface UsedBlobs {
  readonly data: ReadonlySet<string>;
  readonly tree: ReadonlySet<string>;
}

/** The blobs that snapshots need. @throws DamagedError if a snapshot or a tree can't be read */
export async function findUsedBlobs(files: SealedFiles, index: IndexCache): Promise<UsedBlobs> {
  const { snapshots, damaged } = await loadSnapshots(files);
  const [first] = damaged;
  if (first) throw first;
  const used = { data: new Set<string>(), tree: new Set<string>() } satisfies Record<BlobType, Set<string>>;
  const walk = new TreeWalk(new SnapshotTree(new BlobReader(files, index)), {
    tree: (id) => void used.tree.add(id),
    file: ({ content }) => {
      for (const id of content) used.data.add(id);
    },
  });
  for (const { tree } of snapshots) await walk.visit(tree);
  return used;
}

export const missing = (id: string): MissingBlobError =>
  new MissingBlobError(
    `blob ${id} is missing, so nothing is removed. \`check\` names the affected files.`,
    `blob ${id}`,
  );

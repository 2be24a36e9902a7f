import { sha256 } from '../format/blobs.js';
import { decodeTree, type FileNode, type TreeNode } from '../format/tree.js';
import { DamagedError, PathNotFoundError } from '../model/errors.js';
import { partsOf } from '../model/paths.js';
import type { FileEntry } from '../model/types.js';
import type { BlobReader } from '../store/blob-reader.js';

const MOST_FILES = 1_000_000;
const MOST_FOLDERS = 100_000;
const DEEPEST = 256;

/** A folder of a snapshot. */
interface Place {
  readonly tree: string;
  readonly path: string;
  readonly depth: number;
}

interface Seen {
  folders: number;
  readonly known: Map<string, readonly TreeNode[]>;
}

export const contentIdOf = (content: readonly string[]): string => sha256(Buffer.from(content.join('')));

/** The folders and files of snapshots. */
export class SnapshotTree {
  constructor(private readonly reader: Pick<BlobReader, 'read'>) {}

  /** @throws DamagedError */
  async nodesOf(tree: string): Promise<TreeNode[]> {
    return decodeTree(await this.reader.read('tree', tree), `tree ${tree}`);
  }

  /** @throws PathNotFoundError, DamagedError, InvalidInputError */
  async findFile(root: string, path: string): Promise<FileNode> {
    const parts = partsOf(path);
    let tree = root;
    for (const [depth, name] of parts.entries()) {
      const node = (await this.nodesOf(tree)).find((candidate) => candidate.name === name);
      if (node?.type === 'file' && depth === parts.length - 1) return node;
      if (node?.type !== 'dir') break;
      tree = node.subtree;
    }
    throw new PathNotFoundError(`path: the snapshot has no file ${JSON.stringify(path)}.`);
  }

  /** All files below a tree, sorted by path. @throws DamagedError */
  async files(root: string): Promise<FileEntry[]> {
    const found: FileEntry[] = [];
    await this.collect({ tree: root, path: '', depth: 0 }, found, { folders: 0, known: new Map() });
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  private async collect({ tree, path, depth }: Place, found: FileEntry[], seen: Seen): Promise<void> {
    // A few trees that contain each other more than once can describe more files than fit into any memory.
    if (depth > DEEPEST || ++seen.folders > MOST_FOLDERS || found.length > MOST_FILES) {
      throw new DamagedError(`tree ${tree} is nested too deep or has too many files.`, `tree ${tree}`);
    }
    const nodes = seen.known.get(tree) ?? (await this.nodesOf(tree));
    seen.known.set(tree, nodes);
    for (const node of nodes) {
      const below = `${path}/${node.name}`;
      if (node.type === 'dir') await this.collect({ tree: node.subtree, path: below, depth: depth + 1 }, found, seen);
      else found.push({ path: below, size: node.size, mtime: node.mtime, contentId: contentIdOf(node.content) });
    }
  }
}

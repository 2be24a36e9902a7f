import type { FileNode } from '../format/tree.js';
import { DamagedError } from '../model/errors.js';
import type { AffectedFile, ByteRange, CheckProblem, Snapshot } from '../model/types.js';
import type { SnapshotTree } from '../reading/snapshot-tree.js';
import type { BlobIndex } from '../store/blob-index.js';

interface Below {
  readonly path: string;
  readonly ranges: readonly ByteRange[];
}

/** More are not listed; the problems are complete. */
const MOST_AFFECTED = 10_000;
const DEEPEST = 256;

/** Walks all snapshots and finds the files that damage affects. */
export class AffectedFiles {
  readonly problems: CheckProblem[] = [];
  readonly affected: AffectedFile[] = [];
  readonly used = { data: new Set<string>(), tree: new Set<string>() };
  private readonly results = new Map<string, readonly Below[]>();
  private readonly missing = new Set<string>();

  constructor(
    private readonly trees: SnapshotTree,
    private readonly index: BlobIndex,
    /** Whether no copy of a blob can be read. */
    private readonly isLost: (id: string) => boolean,
  ) {}

  async check({ id, tree }: Snapshot): Promise<void> {
    for (const { path, ranges } of await this.below(tree, 0)) {
      if (this.affected.length < MOST_AFFECTED) this.affected.push({ snapshotId: id, path: path || '/', ranges });
    }
  }

  /** Affected paths below a tree. Trees that snapshots share are read once. */
  private async below(tree: string, depth: number): Promise<readonly Below[]> {
    const known = this.results.get(tree);
    if (known) return known;
    // A tree that contains itself can't have a correct hash, but a program that reads it has to end.
    this.results.set(tree, []);
    const found: Below[] = [];
    try {
      if (depth > DEEPEST) throw new DamagedError(`tree ${tree} is nested too deep.`, `tree ${tree}`);
      this.used.tree.add(tree);
      for (const node of await this.trees.nodesOf(tree)) {
        if (node.type === 'file') found.push(...this.checkFile(node));
        else {
          for (const { path, ranges } of await this.below(node.subtree, depth + 1)) {
            if (found.length < MOST_AFFECTED) found.push({ path: `/${node.name}${path}`, ranges });
          }
        }
      }
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      this.problems.push({ kind: 'tree', id: tree, message: error.message });
      found.push({ path: '', ranges: [] });
    }
    this.results.set(tree, found);
    return found;
  }

  private checkFile({ name, size, content }: FileNode): Below[] {
    const ranges: ByteRange[] = [];
    let offset = 0;
    let isWhole = true;
    for (const id of content) {
      this.used.data.add(id);
      const length = this.index.plainLengthOf('data', id);
      if (length === undefined) {
        isWhole = false;
        this.noteMissing(id);
      } else if (this.isLost(id)) ranges.push({ offset, length });
      offset += length ?? 0;
    }
    // Where the missing blob was can't be said without its length.
    if (!isWhole || offset !== size) return [{ path: `/${name}`, ranges: [{ offset: 0, length: size }] }];
    return ranges.length === 0 ? [] : [{ path: `/${name}`, ranges }];
  }

  private noteMissing(id: string): void {
    if (this.missing.has(id)) return;
    this.missing.add(id);
    this.problems.push({ kind: 'blob', id, message: `blob ${id} is missing: no index lists it.` });
  }
}

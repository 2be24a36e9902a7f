import type { FileNode } from '../format/tree.js';
import { DamagedError } from '../model/errors.js';
import type { SnapshotTree } from '../reading/snapshot-tree.js';

const DEEPEST = 256;

/** What a walk meets; each tree is visited once, however many snapshots have it. */
export interface TreeVisitor {
  tree(id: string): void;
  file(node: FileNode): void;
}

/** Visits all trees and files below roots. @throws DamagedError for the first tree that can't be read */
export class TreeWalk {
  private readonly seen = new Set<string>();

  constructor(
    private readonly trees: SnapshotTree,
    private readonly visitor: TreeVisitor,
  ) {}

  async visit(tree: string, depth = 0): Promise<void> {
    if (this.seen.has(tree)) return;
    if (depth > DEEPEST) throw new DamagedError(`tree ${tree} is nested too deep.`, `tree ${tree}`);
    this.seen.add(tree);
    this.visitor.tree(tree);
    for (const node of await this.trees.nodesOf(tree)) {
      if (node.type === 'dir') await this.visit(node.subtree, depth + 1);
      else this.visitor.file(node);
    }
  }
}

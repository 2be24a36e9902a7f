import type { IconName } from '../../../icons.js';
import { naturalSortKey, compareText } from '../../../shared/names/natural-sort-key.js';

/** A folder, context, namespace, or node in the inventory, with everything below it. */
export interface TreeNode {
  /** Unique in its tree, and the same after a reload. */
  readonly id: string;
  readonly label: string;
  /** Whether the label is a text and not a name. */
  readonly isText?: true;
  readonly icon: IconName;
  /** Finds exactly the VMs that are counted. */
  readonly query: string;
  readonly count: number;
  readonly children: readonly TreeNode[];
}

/** The number of VMs by a text that names their place. */
export type Counts = ReadonlyMap<string, number>;

export function countBy<E>(entries: readonly E[], keyOf: (entry: E) => string): Counts {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const key = keyOf(entry);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Equal for equal counts, so that a tree is built again only when a number in it has changed. */
export const signatureOf = (counts: Counts): string =>
  [...counts]
    .map(([key, count]) => `${key}\n${count}`)
    .sort()
    .join('\n');

/** In natural order: node-2 before node-10. */
export const byLabel = (a: TreeNode, b: TreeNode): number =>
  compareText(naturalSortKey(a.label), naturalSortKey(b.label));

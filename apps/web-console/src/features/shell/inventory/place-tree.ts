import type { IconName } from '../../../icons.js';
import { queryFor } from '../../../shared/list/query-for.js';
import { byLabel, type Counts, type TreeNode } from './tree-node.js';

/** None of the three can contain it. */
const SEPARATOR = '/';

/** A VM that does not run has no node. */
export const placeOf = ({ context, namespace, node }: PlacedVm): string =>
  [context, namespace, node ?? ''].join(SEPARATOR);

interface PlacedVm {
  readonly context: string;
  readonly namespace: string;
  readonly node?: string | null | undefined;
}

interface Level {
  readonly field: 'context' | 'ns' | 'node';
  readonly icon: IconName;
}

const LEVELS: readonly Level[] = [
  { field: 'context', icon: 'context' },
  { field: 'ns', icon: 'namespace' },
  { field: 'node', icon: 'node' },
];

/** The contexts, the namespaces in them, and the nodes on which the VMs of a namespace run. */
export const placeTree = (counts: Counts): readonly TreeNode[] =>
  levelOf(
    [...counts].map(([place, count]) => ({ names: place.split(SEPARATOR), count })),
    [],
  );

interface Place {
  /** The rest of the way, from this level on. */
  readonly names: readonly string[];
  readonly count: number;
}

function levelOf(places: readonly Place[], above: readonly string[]): TreeNode[] {
  const level = LEVELS[above.length];
  if (!level) return [];
  const below = new Map<string, Place[]>();
  for (const { names, count } of places) {
    const [name = '', ...rest] = names;
    if (name === '') continue;
    const group = below.get(name) ?? [];
    group.push({ names: rest, count });
    below.set(name, group);
  }
  return [...below]
    .map(([name, group]): TreeNode => {
      const path = [...above, name];
      return {
        id: path.join(SEPARATOR),
        label: name,
        icon: level.icon,
        query: queryFor(Object.fromEntries(path.map((value, index) => [LEVELS[index]?.field, value]))),
        count: group.reduce((sum, { count }) => sum + count, 0),
        children: levelOf(group, path),
      };
    })
    .sort(byLabel);
}

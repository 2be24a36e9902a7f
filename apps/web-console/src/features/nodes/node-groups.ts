import { t, plural } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import { readableBytes } from '../../shared/quantity/quantity.js';

export type NodeGrouping = 'context' | 'zone';

interface NodeGroup {
  readonly name: string;
  readonly members: readonly NodeDetailsView[];
}

/** The nodes by their contexts, or by the zones of these, in the order of the nodes. */
export function groupNodes(nodes: readonly NodeDetailsView[], grouping: NodeGrouping): NodeGroup[] {
  const groups = new Map<string, NodeDetailsView[]>();
  for (const node of nodes) {
    const name = grouping === 'context' ? node.context : placeOf(node);
    groups.set(name, [...(groups.get(name) ?? []), node]);
  }
  const sorted = grouping === 'zone' ? [...groups].sort(([a], [b]) => (a < b ? -1 : 1)) : [...groups];
  return sorted.map(([name, members]) => ({ name, members }));
}

const placeOf = ({ context, zone }: NodeDetailsView): string =>
  zone === undefined ? t`${context}, no zone` : t`${context}, zone ${zone}`;

/** `3 nodes · CPU 12% · memory 96 of 768 GiB promised`, without the parts that are unknown. */
export function groupSummary(members: readonly NodeDetailsView[]): string {
  const used = sum(
    members,
    ({ load, capacity }) => capacity.cpu !== null && load.cpu !== null && [load.cpu, capacity.cpu],
  );
  const promised = sum(
    members,
    ({ promised: { memoryBytes }, allocatable }) =>
      memoryBytes !== null && allocatable.memoryBytes !== null && [memoryBytes, allocatable.memoryBytes],
  );
  return [
    plural(members.length, { one: '# node', other: '# nodes' }),
    ...(used ? [t`CPU ${Math.round((used[0] / used[1]) * 100)}%`] : []),
    ...(promised ? [t`memory ${readableBytes(promised[0])} of ${readableBytes(promised[1])} promised`] : []),
  ].join(' · ');
}

/** The sums of a part and its whole; undefined where one node does not have them. */
function sum(
  members: readonly NodeDetailsView[],
  pairOf: (node: NodeDetailsView) => readonly [number, number] | false,
): [number, number] | undefined {
  let [part, whole] = [0, 0];
  for (const member of members) {
    const pair = pairOf(member);
    if (!pair) return undefined;
    part += pair[0];
    whole += pair[1];
  }
  return whole === 0 ? undefined : [part, whole];
}

import { t } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { ResourceTable } from '../../../shared/resources/resource-table.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { numeric } from '../../../shared/ui/table.js';
import { nodeKey } from '../node-guests.js';
import { cpuText, nodeState } from '../node-state.js';
import { freeMemory } from '../node-target.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Data } from '../../../shared/ui/data.js';

const columns = perLanguage(() => [
  ...[t`Name`, t`Status`, t`CPU use`, t`Memory use`],
  ...[t`Instances`, t`Promised CPUs`, t`Promised memory`, t`Free memory`].map(numeric),
  ...[t`Zone`, t`Roles`, t`Context`],
]);

interface NodeTableProps {
  nodes: readonly NodeDetailsView[];
  peeked: string | undefined;
  onPeek: (key: string | undefined) => void;
}

export const keyOfNode = ({ context, name }: NodeDetailsView): string => nodeKey({ context, node: name });
export const nameOfNode = ({ name }: NodeDetailsView): string => name;

/** All nodes as rows. */
export const NodeTable = ({ nodes, peeked, onPeek }: NodeTableProps) => (
  <ResourceTable
    label={t`Nodes`}
    columns={columns()}
    items={nodes}
    keyOf={keyOfNode}
    nameOf={nameOfNode}
    cells={cells}
    peeked={peeked}
    onPeek={onPeek}
  />
);

function cells(node: NodeDetailsView) {
  const { load, capacity, promised, instances, zone, roles, context } = node;
  const free = freeMemory(node);
  return [
    <StatusLabel wording={nodeState(node)} title={node.unschedulable} />,
    <UsageBar used={load.cpu} total={capacity.cpu} text={usageText(load.cpu, capacity.cpu, cpuText)} />,
    <UsageBar
      used={load.memoryBytes}
      total={capacity.memoryBytes}
      text={usageText(load.memoryBytes, capacity.memoryBytes, readableBytes)}
    />,
    readableNumber(instances),
    readableNumber((promised.cpu ?? 0) / 1000),
    readableBytes(promised.memoryBytes ?? 0),
    free === null ? '–' : readableBytes(Math.max(0, free)),
    <Data>{zone ?? '–'}</Data>,
    <Data>{roles.split(',').join(', ')}</Data>,
    <Data>{context}</Data>,
  ];
}

/** `12% of 16 CPUs`, or as much of it as is known. */
export function usageText(used: number | null, capacity: number | null, format: (amount: number) => string): string {
  if (used === null || capacity === null || capacity === 0)
    return used === null ? (capacity === null ? '–' : t`of ${format(capacity)}`) : format(used);
  return t`${Math.round((used / capacity) * 100)}% of ${format(capacity)}`;
}

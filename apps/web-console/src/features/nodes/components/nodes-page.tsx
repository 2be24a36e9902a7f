import { useMemo } from 'react';
import { Link } from 'wouter';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { nodePath } from '../../../shared/location/paths.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { numeric, Table } from '../../../shared/ui/table.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { NetworkList } from './network-list.js';
import { NO_LOAD, nodeKey, nodeLoads, type NodeLoad } from '../node-loads.js';

const COLUMNS = [
  ...['Name', 'Status'],
  ...['CPU usage', 'Memory usage', 'VMs', 'Assigned CPUs', 'Assigned memory'].map(numeric),
  ...['Roles', 'Architecture', 'Version', 'Context'],
];

/** The nodes and their current load. */
export function NodesPage() {
  usePageTitle('Nodes');
  const { data: nodes, error, refetch } = useNodes();
  const entries = useFleet((fleet) => fleet.entries);
  const loads = useMemo(() => nodeLoads(entries), [entries]);

  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        Nodes
      </h1>
      {error && <ErrorAlert title="Couldn't load the nodes" error={error} onRetry={() => void refetch()} />}
      {!nodes && !error && <Skeleton height="10rem" label="Loading nodes" />}
      {nodes?.length === 0 && (
        <EmptyState title="No nodes" level={2}>
          No reachable context has a node.
        </EmptyState>
      )}
      {nodes && nodes.length > 0 && (
        <Table label="Nodes" columns={COLUMNS}>
          {nodes.map(({ name, ready, roles, arch, kubelet, context, capacity, load }) => (
            <tr key={`${context}/${name}`}>
              <td>
                <Link href={nodePath(context, name)}>{name}</Link>
              </td>
              <td>
                <span className={`hg-status hg-status--${ready ? 'success' : 'danger'}`}>
                  <Icon name={ready ? 'check' : 'error'} />
                  {ready ? 'Ready' : 'Not ready'}
                </span>
              </td>
              <td className="hg-numeric">{usageText(load.cpu, capacity.cpu, cpus)}</td>
              <td className="hg-numeric">{usageText(load.memoryBytes, capacity.memoryBytes, readableBytes)}</td>
              {loadCells(loads.get(nodeKey({ context, node: name })))}
              <td>{roles.split(',').join(', ')}</td>
              <td>{arch}</td>
              <td>{kubelet}</td>
              <td>{context}</td>
            </tr>
          ))}
        </Table>
      )}
      <NetworkList />
    </div>
  );
}

const cpus = (millicores: number): string => `${Number((millicores / 1000).toFixed(1)).toLocaleString('en')} CPUs`;

/** `12% of 16 CPUs`, or as much of it as is known. */
function usageText(used: number | null, capacity: number | null, format: (amount: number) => string): string {
  if (used === null || capacity === null || capacity === 0)
    return used === null ? (capacity === null ? '–' : `of ${format(capacity)}`) : format(used);
  return `${Math.round((used / capacity) * 100)}% of ${format(capacity)}`;
}

const loadCells = ({ guests, cpus, bytes }: NodeLoad = NO_LOAD) =>
  [guests.toLocaleString('en'), cpus.toLocaleString('en'), readableBytes(bytes)].map((text, index) => (
    <td key={index} className="hg-numeric">
      {text}
    </td>
  ));

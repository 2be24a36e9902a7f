import { EmptyState, EmptyStateBody, Skeleton } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { nodePlace } from '../../../shared/location/places.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { NO_LOAD, nodeKey, nodeLoads, type NodeLoad } from '../node-loads.js';
import { Icon } from '../../../shared/ui/icon.js';

/** The machines that guests run on, and how many each carries now. */
export function NodesPage() {
  usePageTitle('Nodes');
  const { data: nodes, error, refetch } = useNodes();
  const entries = useFleet((fleet) => fleet.entries);
  const loads = useMemo(() => nodeLoads(entries), [entries]);

  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below">Nodes</h1>
      {error && <ErrorAlert title="The nodes can't be shown" error={error} onRetry={() => void refetch()} />}
      {!nodes && !error && <Skeleton height="10rem" screenreaderText="Loading nodes" />}
      {nodes?.length === 0 && (
        <EmptyState titleText="No nodes" headingLevel="h2" variant="sm">
          <EmptyStateBody>No context that can be reached has a node.</EmptyStateBody>
        </EmptyState>
      )}
      {nodes && nodes.length > 0 && (
        <div className="hg-list">
          <Table variant="compact" gridBreakPoint="" aria-label="Nodes">
            <Thead>
              <Tr>
                <Th>Name</Th>
                <Th>State</Th>
                <Th className="hg-numeric">Instances</Th>
                <Th className="hg-numeric">Their CPUs</Th>
                <Th className="hg-numeric">Their memory</Th>
                <Th>Roles</Th>
                <Th>Architecture</Th>
                <Th>Version</Th>
                <Th>Context</Th>
              </Tr>
            </Thead>
            <Tbody>
              {nodes.map(({ name, ready, roles, arch, kubelet, context }) => (
                <Tr key={`${context}/${name}`}>
                  <Td>
                    <Link href={nodePlace(context, name)}>{name}</Link>
                  </Td>
                  <Td>
                    <span className={`hg-status hg-status--${ready ? 'good' : 'bad'}`}>
                      <Icon name={ready ? 'check' : 'error'} />
                      {ready ? 'Ready' : 'Not ready'}
                    </span>
                  </Td>
                  {loadCells(loads.get(nodeKey({ context, node: name })))}
                  <Td>{roles.split(',').join(', ')}</Td>
                  <Td>{arch}</Td>
                  <Td>{kubelet}</Td>
                  <Td>{context}</Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        </div>
      )}
    </div>
  );
}

const loadCells = ({ guests, cpus, bytes }: NodeLoad = NO_LOAD) =>
  [guests.toLocaleString('en'), cpus.toLocaleString('en'), readableBytes(bytes)].map((text, index) => (
    <Td key={index} className="hg-numeric">
      {text}
    </Td>
  ));

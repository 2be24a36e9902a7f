import { plural, t } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import { useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import { useContainers, useFleet } from '../../../shared/fleet/fleet-provider.js';
import { usePeek } from '../../../shared/list/use-peek.js';
import { currentSearch, navigate } from '../../../shared/location/hash-location.js';
import { paths } from '../../../shared/location/paths.js';
import { ResourcePage } from '../../../shared/resources/resource-page.js';
import { ResourcePeek } from '../../../shared/resources/resource-peek.js';
import { nodeGuests, nodeKey, occupancyOf } from '../node-guests.js';
import type { NodeGrouping } from '../node-groups.js';
import type { ChosenChange } from '../node-requests.js';
import { useNodeDetails } from '../use-node-details.js';
import { NodeChangePanel } from './node-change-panel.js';
import { NodeMap } from './node-map.js';
import { NodePeek } from './node-peek.js';
import { keyOfNode, nameOfNode, NodeTable } from './node-table.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** The nodes as a map or a table, with what runs on them. */
export function NodesPage() {
  const vms = useFleet(({ entries }) => entries);
  const containers = useContainers(({ entries }) => entries);
  const guests = useMemo(() => nodeGuests([...vms, ...containers]), [vms, containers]);
  const query = useNodeDetails(useMemo(() => occupancyOf(guests), [guests]));
  const { data: nodes = [] } = query;
  const [peeked, peek] = usePeek(paths.nodes);
  const [chosen, setChosen] = useState<ChosenChange>();
  const search = new URLSearchParams(useSearch());
  const view = search.get('view') === 'table' ? 'table' : 'map';
  const hasZones = nodes.some(({ zone }) => zone !== undefined);
  const grouping: NodeGrouping = hasZones && search.get('group') === 'zone' ? 'zone' : 'context';
  return (
    <ResourcePage
      title={t`Nodes`}
      summary={nodes.length === 0 ? undefined : summaryOf(nodes)}
      tools={
        nodes.length > 0 && (
          <>
            {view === 'map' && hasZones && (
              <Segments
                label={t`Group by`}
                options={{ context: t`Contexts`, zone: t`Zones` }}
                active={grouping}
                onChoose={(value) => setSearch('group', value === 'context' ? undefined : value)}
              />
            )}
            <Segments
              label={t`Show as`}
              options={{ map: t`Map`, table: t`Table` }}
              active={view}
              onChoose={(value) => setSearch('view', value === 'map' ? undefined : value)}
            />
          </>
        )
      }
      query={query}
      none={t`No reachable context has a node.`}
    >
      {view === 'map' ? (
        <NodeMap nodes={nodes} grouping={grouping} guests={guests} peeked={peeked} onPeek={peek} />
      ) : (
        <NodeTable nodes={nodes} peeked={peeked} onPeek={peek} />
      )}
      {peeked !== undefined && (
        <ResourcePeek
          items={nodes}
          keyOf={keyOfNode}
          nameOf={nameOfNode}
          peeked={peeked}
          onPeek={peek}
          render={(node) => (
            <NodePeek
              node={node}
              guests={guests.get(nodeKey({ context: node.context, node: node.name })) ?? []}
              onChoose={(change) => setChosen({ change, node })}
            />
          )}
        />
      )}
      {chosen && (
        <NodeChangePanel
          key={`${chosen.change} ${keyOfNode(chosen.node)}`}
          chosen={chosen}
          onClose={() => setChosen(undefined)}
        />
      )}
    </ResourcePage>
  );
}

/** The choices are a part of the address. */
function setSearch(name: string, value: string | undefined): void {
  const params = new URLSearchParams(currentSearch());
  if (value === undefined) params.delete(name);
  else params.set(name, value);
  navigate(params.size === 0 ? paths.nodes : `${paths.nodes}?${params}`, { replace: true });
}

interface SegmentsProps<T extends string> {
  label: string;
  options: Readonly<Record<T, string>>;
  active: T;
  onChoose: (option: T) => void;
}

const Segments = <T extends string>({ label, options, active, onChoose }: SegmentsProps<T>) => (
  <div className="hg-segments" role="group" aria-label={label}>
    {(Object.entries(options) as [T, string][]).map(([option, text]) => (
      <button key={option} type="button" aria-pressed={option === active} onClick={() => onChoose(option)}>
        {text}
      </button>
    ))}
  </div>
);

/** `68 in 4 contexts, 1 not ready`. */
function summaryOf(nodes: readonly NodeDetailsView[]): string {
  const contexts = new Set(nodes.map(({ context }) => context)).size;
  const away = nodes.filter(({ ready }) => !ready).length;
  const closed = nodes.filter(({ ready, schedulable }) => ready && !schedulable).length;
  return [
    t`${readableNumber(nodes.length)} in ${plural(contexts, { one: '# context', other: '# contexts' })}`,
    ...(away > 0 ? [t`${away} not ready`] : []),
    ...(closed > 0 ? [t`${plural(closed, { one: '# takes', other: '# take' })} no new VMs`] : []),
  ].join(', ');
}

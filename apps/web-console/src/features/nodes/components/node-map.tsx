import { t } from '@lingui/core/macro';
import type { NodeDetailsView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { useActionRefusal } from '../../../shared/actions/use-action-refusal.js';
import { useActions } from '../../../shared/actions/use-actions.js';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { nodeKey, type NodeGuest } from '../node-guests.js';
import { groupNodes, groupSummary, type NodeGrouping } from '../node-groups.js';
import { targetFor } from '../node-target.js';
import { MigrationPromise } from './migration-promise.js';
import { NodeCard } from './node-card.js';
import { Data } from '../../../shared/ui/data.js';

interface NodeMapProps {
  nodes: readonly NodeDetailsView[];
  grouping: NodeGrouping;
  guests: ReadonlyMap<string, readonly NodeGuest[]>;
  peeked: string | undefined;
  onPeek: (key: string | undefined) => void;
}

/** All nodes with their instances as blocks. A block can be dragged to another node, which opens the plan. */
export function NodeMap({ nodes, grouping, guests, peeked, onPeek }: NodeMapProps) {
  const [dragged, setDragged] = useState<VmView>();
  const [over, setOver] = useState<string>();
  const { data: capabilities } = useCapabilities();
  const refusal = useActionRefusal();
  const { run } = useActions();
  const drag = (vm: VmView | undefined): void => {
    setDragged(vm);
    setOver(undefined);
  };
  const overTarget = (): string | undefined => {
    const node = nodes.find(({ context, name }) => nodeKey({ context, node: name }) === over);
    return dragged && node && targetFor(dragged, node, capabilities)?.target;
  };
  const target = overTarget();
  return (
    <>
      {groupNodes(nodes, grouping).map(({ name, members }) => (
        <section key={name} aria-label={t`Nodes of ${name}`} className="hg-node-group">
          <h2>
            {grouping === 'context' ? <Data>{name}</Data> : name}
            <span className="hg-note">{groupSummary(members)}</span>
          </h2>
          <ul className="hg-nodes">
            {members.map((node) => {
              const key = nodeKey({ context: node.context, node: node.name });
              return (
                <NodeCard
                  key={key}
                  node={node}
                  guests={guests.get(key) ?? []}
                  isPeeked={key === peeked}
                  target={dragged && targetFor(dragged, node, capabilities)}
                  isDragging={dragged !== undefined}
                  isOver={key === over}
                  refusal={(vm) => refusal('migrate', vm)}
                  onPeek={() => onPeek(key === peeked ? undefined : key)}
                  onDrag={drag}
                  onOver={(isOver) => setOver(isOver ? key : undefined)}
                  onDrop={(to) => {
                    if (dragged) run({ id: 'migrate', instance: dragged, target: to });
                    drag(undefined);
                  }}
                />
              );
            })}
          </ul>
        </section>
      ))}
      {dragged && target !== undefined && <MigrationPromise vm={dragged} target={target} />}
    </>
  );
}

import { t, plural } from '@lingui/core/macro';
import type { NodeDetailsView, VmView } from '@headgate/api-contracts';
import type { DragEvent } from 'react';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';
import { Icon } from '../../../shared/ui/icon.js';
import type { NodeGuest } from '../node-guests.js';
import { nodeState } from '../node-state.js';
import { freeMemory, type NodeTarget } from '../node-target.js';
import { NodeBlocks } from './node-blocks.js';
import { readableNumber } from '../../../shared/texts/formats.js';

interface NodeCardProps {
  node: NodeDetailsView;
  guests: readonly NodeGuest[];
  isPeeked: boolean;
  /** While a VM is dragged: whether it may go here. */
  target: NodeTarget | undefined;
  isDragging: boolean;
  isOver: boolean;
  refusal: (vm: VmView) => string | undefined;
  onPeek: () => void;
  onDrag: (vm: VmView | undefined) => void;
  onOver: (isOver: boolean) => void;
  onDrop: (target: string) => void;
}

/** A node of the map. A VM that is dragged onto it is offered a migration. */
export function NodeCard(props: NodeCardProps) {
  const { node, guests, isPeeked, target, isDragging, isOver, refusal, onPeek, onDrag, onOver, onDrop } = props;
  const { tone, icon, words } = nodeState(node);
  const isLegal = target !== undefined && target.refusal === undefined;
  const over = (event: DragEvent): void => {
    if (!isLegal) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'move';
    if (!isOver) onOver(true);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    if (isLegal) onDrop(target.target);
  };
  const part = isDragging ? (isLegal ? ' hg-node--target' : ' hg-node--off') : '';
  return (
    <li
      className={`hg-card hg-node${isPeeked ? ' hg-node--peeked' : ''}${part}${isOver ? ' hg-node--over' : ''}`}
      onDragOver={over}
      onDragLeave={({ currentTarget, relatedTarget }) =>
        !currentTarget.contains(relatedTarget as Element | null) && onOver(false)
      }
      onDrop={drop}
    >
      <button type="button" className="hg-node-name" aria-pressed={isPeeked} onClick={onPeek}>
        <span className={`hg-status hg-status--${tone}`} title={node.unschedulable ?? words}>
          <Icon name={icon} />
          <span className="hg-hidden-text">{words}</span>
        </span>
        <b translate="no">{node.name}</b>
        <span className="hg-note">
          {readableNumber(node.instances)}
          <span className="hg-hidden-text"> {plural(node.instances, { one: 'instance', other: 'instances' })}</span>
        </span>
      </button>
      <NodeBlocks node={node} guests={guests} refusal={refusal} onDrag={onDrag} onClick={onPeek} />
      <div className="hg-node-foot">
        <span title={t`The CPU in use`}>
          <UsageBar used={node.load.cpu} total={node.capacity.cpu} />
        </span>
        <span className="hg-note">{footText(node, isDragging ? target : undefined)}</span>
      </div>
    </li>
  );
}

function footText(node: NodeDetailsView, target: NodeTarget | undefined): string {
  if (target?.refusal !== undefined) return target.refusal;
  const free = freeMemory(node);
  if (free === null) return t`free memory unknown`;
  return free < 0 ? t`${readableBytes(-free)} too much` : t`${readableBytes(free)} free`;
}

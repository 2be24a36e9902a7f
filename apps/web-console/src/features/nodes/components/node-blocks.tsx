import { t } from '@lingui/core/macro';
import type { NodeDetailsView, VmView } from '@headgate/api-contracts';
import type { CSSProperties, DragEvent } from 'react';
import { instanceState } from '../../../shared/instances/instance-state.js';
import { isVm, type Instance } from '../../../shared/instances/instance.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import type { NodeGuest } from '../node-guests.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** More blocks than this are too small to be distinguished: the smallest are one block. */
const MOST_BLOCKS = 60;

interface NodeBlocksProps {
  node: NodeDetailsView;
  guests: readonly NodeGuest[];
  /** Why a VM can't be dragged; undefined if it can. */
  refusal: (vm: VmView) => string | undefined;
  onDrag: (vm: VmView | undefined) => void;
  onClick: () => void;
}

/** The instances of a node as blocks, by their memory. Screen readers have the list in the details of the node. */
export function NodeBlocks({ node, guests, refusal, onDrag, onClick }: NodeBlocksProps) {
  const total = node.allocatable.memoryBytes ?? guests.reduce((sum, { bytes }) => sum + bytes, 0);
  const shown = guests.slice(0, MOST_BLOCKS);
  const rest = guests.slice(MOST_BLOCKS);
  const restBytes = rest.reduce((sum, { bytes }) => sum + bytes, 0);
  const share = (bytes: number): string => `${(bytes / (total || 1)) * 100 * ROWS}%`;
  const begin = (event: DragEvent, vm: VmView): void => {
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', vm.ref);
    onDrag(vm);
  };
  return (
    <div className="hg-node-blocks" aria-hidden="true" onClick={onClick}>
      {shown.map(({ instance, bytes }) => {
        const vm = isVm(instance) && refusal(instance) === undefined ? instance : undefined;
        return (
          <span
            key={instance.ref}
            className={`hg-node-block hg-node-block--${instanceState(instance).tone}`}
            style={{ '--hg-share': share(bytes) } as CSSProperties}
            title={titleOf(instance, bytes)}
            draggable={vm !== undefined}
            onDragStart={vm && ((event) => begin(event, vm))}
            onDragEnd={() => onDrag(undefined)}
          />
        );
      })}
      {rest.length > 0 && (
        <span
          className="hg-node-block"
          style={{ '--hg-share': share(restBytes) } as CSSProperties}
          title={t`${readableNumber(rest.length)} smaller ones, ${readableBytes(restBytes)}`}
        />
      )}
    </div>
  );
}

/** The blocks of a full node fill two rows. */
const ROWS = 2;

const titleOf = (instance: Instance, bytes: number): string =>
  t`${instance.name}: ${instanceState(instance).words}, ${readableBytes(bytes)}`;

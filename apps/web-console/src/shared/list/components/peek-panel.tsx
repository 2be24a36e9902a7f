import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Instance } from '../../instances/instance.js';
import { useIsPlanOpen } from '../../ui/panel-queue.js';
import { PeekFrame } from '../../ui/peek-frame.js';
import type { ListKind } from '../list-kind.js';

interface PeekPanelProps<E extends Instance> {
  kind: ListKind<E>;
  /** The ref in the address. */
  peeked: string;
  /** Undefined when it was deleted. */
  entry: E | undefined;
  /** The rows of the list, in their order. */
  rows: readonly E[];
  render: (entry: E) => ReactNode;
  /** Shows another row, or closes the peek. */
  onPeek: (ref: string | undefined) => void;
}

/** The details of the row that is peeked at. It never takes the focus: the arrow keys keep walking through the list. */
export function PeekPanel<E extends Instance>({ kind, peeked, entry, rows, render, onPeek }: PeekPanelProps<E>) {
  const [, navigate] = useLocation();
  const isPlanOpen = useIsPlanOpen();
  if (isPlanOpen) return null;
  const at = rows.findIndex(({ ref }) => ref === peeked);
  const name = entry?.name ?? decodeURIComponent(peeked.split('/').at(-1) ?? '');
  const close = (): void => {
    onPeek(undefined);
    document.querySelector<HTMLElement>('.hg-table')?.focus({ preventScroll: true });
  };
  return (
    <PeekFrame
      name={name}
      at={at}
      count={rows.length}
      onWalk={(by) => onPeek(rows[at + by]?.ref ?? peeked)}
      onOpen={entry && (() => navigate(kind.pageOf(entry)))}
      onClose={close}
    >
      {entry ? (
        render(entry)
      ) : (
        <p role="status" className="hg-peek-gone">
          {t`${name} was deleted.`}
        </p>
      )}
    </PeekFrame>
  );
}

import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Instance } from '../../instances/instance.js';
import { Icon } from '../../ui/icon.js';
import { useIsPlanOpen } from '../../ui/panel-queue.js';
import { SidePanel } from '../../ui/side-panel.js';
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
  const walk = (by: 1 | -1) => () => onPeek(rows[at + by]?.ref ?? peeked);
  const close = (): void => {
    onPeek(undefined);
    document.querySelector<HTMLElement>('.hg-table')?.focus({ preventScroll: true });
  };
  return (
    <SidePanel label={`Details of ${name}`} onClose={close}>
      <div className="hg-peek">
        <header className="hg-peek-head">
          <h2>{name}</h2>
          <span className="hg-note">
            {at < 0 ? 'Not in this list' : `${(at + 1).toLocaleString('en')} of ${rows.length.toLocaleString('en')}`}
          </span>
          <PeekButton label="Previous (K)" icon="up" isOff={at <= 0} onClick={walk(-1)} />
          <PeekButton label="Next (J)" icon="expandDown" isOff={at < 0 || at >= rows.length - 1} onClick={walk(1)} />
          <PeekButton
            label="Open the page (Enter)"
            icon="expand"
            isOff={entry === undefined}
            onClick={() => entry && navigate(kind.pageOf(entry))}
          />
          <PeekButton label="Close (Esc)" icon="cross" isOff={false} onClick={close} />
        </header>
        {entry ? (
          render(entry)
        ) : (
          <p role="status" className="hg-peek-gone">
            {`${name} was deleted.`}
          </p>
        )}
      </div>
    </SidePanel>
  );
}

interface PeekButtonProps {
  label: string;
  icon: 'up' | 'expandDown' | 'expand' | 'cross';
  isOff: boolean;
  onClick: () => void;
}

const PeekButton = ({ label, icon, isOff, onClick }: PeekButtonProps) => (
  <button
    type="button"
    className="hg-icon-button"
    aria-label={label}
    title={label}
    aria-disabled={isOff || undefined}
    onClick={() => !isOff && onClick()}
  >
    <Icon name={icon} />
  </button>
);

import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { Icon } from './icon.js';
import { SidePanel } from './side-panel.js';
import { readableNumber } from '../texts/formats.js';

interface PeekFrameProps {
  name: string;
  /** Whether the name is a text, such as "In no folder". */
  isText?: boolean;
  /** The position in the list; -1 if it is not in it. */
  at: number;
  count: number;
  /** Shows the next or the previous one. */
  onWalk: (by: 1 | -1) => void;
  /** Opens the page of the object; absent for one without a page, undefined for one that is gone. */
  onOpen?: (() => void) | undefined;
  hasPage?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** The panel with the details of one entry of a list. */
export function PeekFrame({
  name,
  at,
  count,
  onWalk,
  onOpen,
  hasPage = true,
  isText = false,
  onClose,
  children,
}: PeekFrameProps) {
  return (
    <SidePanel label={t`Details of ${name}`} onClose={onClose}>
      <div className="hg-peek">
        <header className="hg-peek-head">
          <h2 translate={isText ? undefined : 'no'}>{name}</h2>
          <span className="hg-note">
            {at < 0 ? t`Not in this list` : t`${readableNumber(at + 1)} of ${readableNumber(count)}`}
          </span>
          <PeekButton label={t`Previous (K)`} icon="up" isOff={at <= 0} onClick={() => onWalk(-1)} />
          <PeekButton
            label={t`Next (J)`}
            icon="expandDown"
            isOff={at < 0 || at >= count - 1}
            onClick={() => onWalk(1)}
          />
          {hasPage && (
            <PeekButton
              label={t`Open the page (Enter)`}
              icon="expand"
              isOff={onOpen === undefined}
              onClick={() => onOpen?.()}
            />
          )}
          <PeekButton label={t`Close (Esc)`} icon="cross" isOff={false} onClick={onClose} />
        </header>
        {children}
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

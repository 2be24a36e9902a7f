import { t } from '@lingui/core/macro';
import type { HTMLAttributes } from 'react';

interface TopRowProps extends HTMLAttributes<HTMLDivElement> {
  /** Whether a folder that is in another one is dragged. */
  isDragging: boolean;
}

/** The labels of the columns, onto which a folder is dragged that shall be in no other one. */
export const TopRow = ({ isDragging, className = '', ...drop }: TopRowProps) => (
  <div {...drop} className={`${className} hg-folder-head`} aria-hidden="true">
    <span>{isDragging ? t`Name (drop here for the top level)` : t`Name`}</span>
    <span className="hg-numeric">{t`Members`}</span>
    <span className="hg-numeric">{t`Running`}</span>
    <span className="hg-numeric">{t`Failing`}</span>
    <span className="hg-numeric">{t`Promised CPUs`}</span>
    <span className="hg-numeric">{t`Promised memory`}</span>
  </div>
);

import type { VmView } from '@headgate/api-contracts';
import { useMemo } from 'react';
import { toneOf, type VmStatus } from '../../../shared/ui/status-tone.js';
import { Icon } from '../../../shared/ui/icon.js';
import { tally } from '../fleet-view.js';

interface StatusChipsProps {
  entries: readonly VmView[];
  /** How many rows the table has. */
  shown: number;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** The fleet in one line: how many in which state. A click shows only those. */
export function StatusChips({ entries, shown, chosen, onChange }: StatusChipsProps) {
  const counts = useMemo(() => tally(entries.map(({ status }) => status)), [entries]);
  const gone = chosen.filter((status) => !counts.some(({ value }) => value === status));
  const chips = [...counts, ...gone.map((value) => ({ value, count: 0 }))];

  return (
    <div className="hg-chips" role="group" aria-label="Filter by status">
      <span className="hg-chips-total" role="status">
        {shown === entries.length
          ? `${entries.length.toLocaleString('en')} ${entries.length === 1 ? 'instance' : 'instances'}`
          : `${shown.toLocaleString('en')} of ${entries.length.toLocaleString('en')} instances`}
      </span>
      {chips.map(({ value, count }) => {
        const { tone, icon } = toneOf(value as VmStatus);
        const pressed = chosen.includes(value);
        return (
          <button
            key={value}
            type="button"
            className={`hg-chip hg-status--${tone}`}
            aria-pressed={pressed}
            onClick={() => onChange(pressed ? chosen.filter((one) => one !== value) : [...chosen, value])}
          >
            <Icon name={icon} />
            {value} <b>{count.toLocaleString('en')}</b>
          </button>
        );
      })}
    </div>
  );
}

import { useMemo } from 'react';
import { statusOf, type Instance, type InstanceStatus } from '../../instances/instance.js';
import { Icon } from '../../ui/icon.js';
import { statusCode, toneOf } from '../../ui/status-tone.js';
import { countLabel, type ListKind } from '../list-kind.js';
import { tally } from '../list-view.js';

interface StatusChipsProps<E extends Instance> {
  kind: ListKind<E>;
  entries: readonly E[];
  /** The number of rows in the table. */
  shown: number;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** The number of instances in each status. A click filters by that status. */
export function StatusChips<E extends Instance>({ kind, entries, shown, chosen, onChange }: StatusChipsProps<E>) {
  const counts = useMemo(() => tally(entries.map(statusOf)), [entries]);
  const missing = chosen.filter((status) => !counts.some(({ value }) => value === status));
  const chips = [...counts, ...missing.map((value) => ({ value, count: 0 }))];

  return (
    <div className="hg-chips" role="group" aria-label="Filter by status">
      <span className="hg-chips-total" role="status">
        {shown === entries.length
          ? countLabel(kind, entries.length)
          : `${shown.toLocaleString('en')} of ${countLabel(kind, entries.length)}`}
      </span>
      {chips.map(({ value, count }) => {
        const { tone, icon, words } = toneOf(value as InstanceStatus);
        const pressed = chosen.includes(value);
        return (
          <button
            key={value}
            type="button"
            className={`hg-chip hg-status--${tone}`}
            aria-pressed={pressed}
            title={statusCode(value as InstanceStatus)}
            onClick={() => onChange(pressed ? chosen.filter((one) => one !== value) : [...chosen, value])}
          >
            <Icon name={icon} />
            {words} <b>{count.toLocaleString('en')}</b>
          </button>
        );
      })}
    </div>
  );
}

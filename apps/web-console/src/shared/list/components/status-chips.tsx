import { t } from '@lingui/core/macro';
import { useMemo } from 'react';
import { chosenValues, countFacets, formatQuery, withValues, type Query } from '@headgate/instance-query';
import type { Instance, InstanceStatus } from '../../instances/instance.js';
import { Icon } from '../../ui/icon.js';
import { statuses, statusTitle, toneOf } from '../../ui/status-tone.js';
import { countLabel, type ListKind } from '../list-kind.js';
import { filterTest, type Filters } from '../list-filters.js';
import type { ListSettings } from '../list-query.js';
import { INSTANCE_FIELDS } from '../search-query.js';
import { readableNumber } from '../../texts/formats.js';

interface StatusChipsProps<E extends Instance> {
  kind: ListKind<E>;
  entries: readonly E[];
  /** The number of rows in the table. */
  shown: number;
  /** The parsed search, which the chips change. */
  search: Query;
  filters: Filters;
  onChange: (change: Pick<ListSettings, 'search' | 'filters'>) => void;
}

/**
 * The numbers of instances in each status that the search and the other filters find. A click changes the term
 * `status:` of the search, which also takes over the statuses of a link with the older parameter `status`.
 */
export function StatusChips<E extends Instance>(props: StatusChipsProps<E>) {
  const { kind, entries, shown, search, filters, onChange } = props;
  const counts = useMemo(() => {
    const others = filterTest({ ...filters, status: [] });
    return countFacets(search, others ? entries.filter(others) : entries, INSTANCE_FIELDS, ['status']).counts.status;
  }, [entries, search, filters]);
  const chosen = [...new Set([...chosenValues(search, 'status'), ...filters.status.map((one) => one.toLowerCase())])];
  const missing = chosen.filter((status) => isName(status) && !counts.some(({ value }) => isSame(value, status)));
  const chips = [...counts, ...missing.map((status) => ({ value: displayed(status), count: 0 }))];
  const toggle = (value: string): void => {
    const status = value.toLowerCase();
    const next = chosen.includes(status) ? chosen.filter((one) => one !== status) : [...chosen, status];
    onChange({ search: formatQuery(withValues(search, 'status', next)), filters: { ...filters, status: [] } });
  };

  return (
    <div className="hg-chips" role="group" aria-label={t`Filter by status`}>
      <span className="hg-chips-total" role="status">
        {shown === entries.length
          ? countLabel(kind, entries.length)
          : t`${readableNumber(shown)} of ${countLabel(kind, entries.length)}`}
      </span>
      {chips.map(({ value, count }) => {
        const { tone, icon, words } = toneOf(value as InstanceStatus);
        const pressed = chosen.includes(value.toLowerCase());
        return (
          <button
            key={value}
            type="button"
            className={`hg-chip hg-status--${tone}`}
            aria-pressed={pressed}
            title={statusTitle(value as InstanceStatus)}
            onClick={() => toggle(value)}
          >
            <Icon name={icon} />
            {words} <b>{readableNumber(count)}</b>
          </button>
        );
      })}
    </div>
  );
}

const isSame = (status: string, chosen: string): boolean => status.toLowerCase() === chosen;

/** Whether a chosen value is one status: not a pattern, and not the empty value. */
const isName = (chosen: string): boolean => chosen !== '' && !chosen.includes('*');

/** A chosen status as the list shows it. */
const displayed = (chosen: string): string => statuses().find((status) => isSame(status, chosen)) ?? chosen;

import { t } from '@lingui/core/macro';
import { memo, useId, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Instance } from '../../instances/instance.js';
import { Button } from '../../ui/button.js';
import { CheckMenu } from '../../ui/check-menu.js';
import { Icon } from '../../ui/icon.js';
import { SearchInput } from '../../ui/inputs.js';
import { usePhone } from '../../ui/use-compact.js';
import { useShortcut } from '../../ui/use-shortcut.js';
import { allFilters, type FilterName, type Filters } from '../list-filters.js';
import type { ListKind } from '../list-kind.js';
import { isFiltered, withoutFilters, type ListSettings } from '../list-query.js';
import { hasDistinctValues, tally } from '../list-view.js';

interface ListToolbarProps<E extends Instance> {
  kind: ListKind<E>;
  entries: readonly E[];
  query: ListSettings;
  /** The mistake in the search. */
  problem: string | undefined;
  onChange: (change: Partial<ListSettings>) => void;
  shown: readonly string[];
  /** Undefined restores the default: as many columns as fit. */
  onColumns: (columns: readonly string[] | undefined) => void;
  /** Creates an entry. */
  create: ReactNode;
  /** Other commands for the whole list, next to the columns. */
  children: ReactNode;
}

/** The status is filtered with the chips below the toolbar. */
const MENUS = ['context', 'namespace', 'node', 'tag'] as const satisfies readonly FilterName[];

/** Search, filters, and the choice of columns. The key "/" focuses the search. */
export function ListToolbar<E extends Instance>(props: ListToolbarProps<E>) {
  const { kind, entries, query, problem, onChange, shown, onColumns, create, children } = props;
  const { columns, title, plural } = kind;
  const search = useRef<HTMLInputElement>(null);
  useShortcut('/', () => search.current?.focus());
  const problemId = useId();
  const isPhone = usePhone();
  const [isUnfolded, setIsUnfolded] = useState(false);
  const filtersId = useId();
  const hasFilters = !isPhone || isUnfolded;
  const optional = Object.keys(columns).filter((name) => name !== 'name');

  return (
    <div className={`hg-toolbar${isPhone ? ' hg-toolbar--phone' : ''}`} role="toolbar" aria-label={title}>
      <SearchInput
        ref={search}
        className="hg-list-search"
        aria-label={t`Search ${plural}`}
        aria-invalid={problem === undefined ? undefined : true}
        aria-describedby={problem === undefined ? undefined : problemId}
        placeholder={isPhone ? t`Search` : t`Search (press /)`}
        value={query.search}
        onChange={(text) => onChange({ search: text })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          if (query.search === '') search.current?.blur();
          else onChange({ search: '' });
        }}
      />
      {isPhone && (
        <FiltersButton
          count={MENUS.reduce((sum, name) => sum + query.filters[name].length, 0)}
          controls={filtersId}
          isUnfolded={isUnfolded}
          onToggle={() => setIsUnfolded(!isUnfolded)}
        />
      )}
      {isPhone && create}
      {hasFilters && (
        <div id={filtersId} className="hg-toolbar-filters">
          {MENUS.map((name) => (
            <FilterMenu key={name} name={name} entries={entries} filters={query.filters} onChange={onChange} />
          ))}
          {isFiltered(query) && (
            <Button variant="link" onClick={() => onChange(withoutFilters(query))}>
              {t`Clear filters`}
            </Button>
          )}
          {isPhone && children}
        </div>
      )}
      {!isPhone && <span className="hg-spring" />}
      {!isPhone && (
        <CheckMenu
          label={t`Columns`}
          icon={<Icon name="columns" />}
          hasCount={false}
          options={() => optional.map((name) => ({ value: name, label: columns[name]?.label ?? name }))}
          chosen={shown}
          onChange={(chosen) => onColumns(['name', ...optional.filter((name) => chosen.includes(name))])}
          reset={{ label: t`Reset columns`, run: () => onColumns(undefined) }}
        />
      )}
      {!isPhone && children}
      {!isPhone && create}
      {problem !== undefined && (
        <p id={problemId} role="status" className="hg-list-problem hg-status--danger">
          {problem}
        </p>
      )}
    </div>
  );
}

interface FiltersButtonProps {
  /** How many values are chosen. */
  count: number;
  /** The id of the filters. */
  controls: string;
  isUnfolded: boolean;
  onToggle: () => void;
}

/** Shows the filters, which have no room in the toolbar of a phone. */
const FiltersButton = ({ count, controls, isUnfolded, onToggle }: FiltersButtonProps) => (
  <Button
    variant="secondary"
    icon={<Icon name="filter" />}
    aria-label={count === 0 ? t`Filters` : t`Filters: ${count} chosen`}
    aria-expanded={isUnfolded}
    aria-controls={isUnfolded ? controls : undefined}
    onClick={onToggle}
  >
    {count > 0 && <span className="hg-count">{count}</span>}
  </Button>
);

interface FilterMenuProps {
  name: FilterName;
  entries: readonly Instance[];
  filters: Filters;
  onChange: (change: { filters: Filters }) => void;
}

/** Offers the values that occur in the list. Hidden while there is only one value to choose from. */
const FilterMenu = memo(function FilterMenu({ name, entries, filters, onChange }: FilterMenuProps) {
  const { label, values } = allFilters()[name];
  const chosen = filters[name];
  // Counted only while the menu is open, because the list changes many times a second.
  const options = () => {
    const found = tally(entries.flatMap(values));
    const missing = chosen.filter((value) => !found.some((one) => one.value === value));
    return [...found, ...missing.map((value) => ({ value, count: 0 }))];
  };
  const isChoice = useMemo(() => hasDistinctValues(entries, values, name === 'tag' ? 1 : 2), [entries, values, name]);
  if (!isChoice && chosen.length === 0) return null;
  return (
    <CheckMenu
      label={label}
      options={options}
      chosen={chosen}
      onChange={(next) => onChange({ filters: { ...filters, [name]: next } })}
    />
  );
});

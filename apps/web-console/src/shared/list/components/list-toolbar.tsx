import { Button, SearchInput } from '@patternfly/react-core';
import { memo, useMemo, useRef, type ReactNode } from 'react';
import type { Instance } from '../../instances/instance.js';
import { CheckMenu } from '../../ui/check-menu.js';
import { Icon } from '../../ui/icon.js';
import { useShortcut } from '../../ui/use-shortcut.js';
import { FILTERS, type FilterName, type Filters } from '../list-filters.js';
import type { ListKind } from '../list-kind.js';
import { isFiltered, withoutFilters, type ListPlace } from '../list-place.js';
import { severalValues, tally } from '../list-view.js';

interface ListToolbarProps<E extends Instance> {
  kind: ListKind<E>;
  entries: readonly E[];
  place: ListPlace;
  onChange: (change: Partial<ListPlace>) => void;
  shown: readonly string[];
  /** Nothing: as many as there is room for. */
  onColumns: (columns: readonly string[] | undefined) => void;
  /** Beside the columns: what can be done with the whole list. */
  children: ReactNode;
}

/** The status has chips of its own. */
const MENUS = ['context', 'namespace', 'node', 'tag'] as const satisfies readonly FilterName[];

/** Search, filters and the choice of columns. `/` goes to the search. */
export function ListToolbar<E extends Instance>(props: ListToolbarProps<E>) {
  const { kind, entries, place, onChange, shown, onColumns, children } = props;
  const { columns, title, many } = kind;
  const search = useRef<HTMLInputElement>(null);
  useShortcut('/', () => search.current?.focus());
  const optional = Object.keys(columns).filter((name) => name !== 'name');

  return (
    <div className="hg-toolbar" role="toolbar" aria-label={title}>
      <SearchInput
        ref={search}
        className="hg-search"
        aria-label={`Search ${many}`}
        placeholder="Search all words  ( / )"
        value={place.search}
        onChange={(_event, text) => onChange({ search: text })}
        onClear={() => onChange({ search: '' })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          if (place.search === '') search.current?.blur();
          else onChange({ search: '' });
        }}
      />
      {MENUS.map((name) => (
        <FilterMenu key={name} name={name} entries={entries} filters={place.filters} onChange={onChange} />
      ))}
      {isFiltered(place) && (
        <Button variant="link" onClick={() => onChange(withoutFilters(place))}>
          Clear filters
        </Button>
      )}
      <span className="hg-spring" />
      <CheckMenu
        label="Columns"
        icon={<Icon name="columns" />}
        counted={false}
        options={() => optional.map((name) => ({ value: name, label: columns[name]?.label ?? name }))}
        chosen={shown}
        onChange={(chosen) => onColumns(['name', ...optional.filter((name) => chosen.includes(name))])}
        onReset={() => onColumns(undefined)}
      />
      {children}
    </div>
  );
}

interface FilterMenuProps {
  name: FilterName;
  entries: readonly Instance[];
  filters: Filters;
  onChange: (change: { filters: Filters }) => void;
}

/** Offers what occurs in the list. One value alone is no choice, unless it is chosen. */
const FilterMenu = memo(function FilterMenu({ name, entries, filters, onChange }: FilterMenuProps) {
  const { label, values } = FILTERS[name];
  const chosen = filters[name];
  // Counted only for whoever looks: the list changes many times a second.
  const options = () => {
    const found = tally(entries.flatMap(values));
    const gone = chosen.filter((value) => !found.some((one) => one.value === value));
    return [...found, ...gone.map((value) => ({ value, count: 0 }))];
  };
  const isChoice = useMemo(() => severalValues(entries, values, name === 'tag' ? 1 : 2), [entries, values, name]);
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

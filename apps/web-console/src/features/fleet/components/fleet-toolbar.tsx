import { Button, SearchInput } from '@patternfly/react-core';
import type { VmView } from '@headgate/api-contracts';
import { useMemo, useRef, type ReactNode } from 'react';
import { CheckMenu } from '../../../shared/ui/check-menu.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { COLUMN, OPTIONAL_COLUMNS, type ColumnName } from '../fleet-columns.js';
import { isFiltered, withoutFilters, type FleetPlace } from '../fleet-place.js';
import { tally } from '../fleet-view.js';

interface FleetToolbarProps {
  entries: readonly VmView[];
  place: FleetPlace;
  onChange: (change: Partial<FleetPlace>) => void;
  columns: readonly ColumnName[];
  onColumns: (columns: readonly ColumnName[]) => void;
  /** The button that makes a new instance. */
  create: ReactNode;
}

/** Search, filters and the choice of columns. `/` goes to the search. */
export function FleetToolbar({ entries, place, onChange, columns, onColumns, create }: FleetToolbarProps) {
  const search = useRef<HTMLInputElement>(null);
  useShortcut('/', () => search.current?.focus());
  const contexts = useMemo(() => tally(entries.map(({ context }) => context)), [entries]);
  const tags = useMemo(() => tally(entries.flatMap((vm) => vm.tags)), [entries]);

  return (
    <div className="hg-toolbar" role="toolbar" aria-label="Instances">
      <SearchInput
        ref={search}
        className="hg-search"
        aria-label="Search instances"
        placeholder="Search all words  ( / )"
        value={place.search}
        onChange={(_event, text) => onChange({ search: text })}
        onClear={() => onChange({ search: '' })}
      />
      {(contexts.length > 1 || place.contexts.length > 0) && (
        <CheckMenu
          label="Context"
          options={contexts}
          chosen={place.contexts}
          onChange={(chosen) => onChange({ contexts: chosen })}
        />
      )}
      {(tags.length > 0 || place.tags.length > 0) && (
        <CheckMenu label="Tags" options={tags} chosen={place.tags} onChange={(chosen) => onChange({ tags: chosen })} />
      )}
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
        options={OPTIONAL_COLUMNS.map((name) => ({ value: name, label: COLUMN[name].label }))}
        chosen={columns}
        onChange={(chosen) => onColumns(['name', ...OPTIONAL_COLUMNS.filter((name) => chosen.includes(name))])}
      />
      {create}
    </div>
  );
}

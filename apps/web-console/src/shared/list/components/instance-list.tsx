import { Spinner } from '@patternfly/react-core';
import { useDeferredValue, useEffect, useMemo, type ReactNode } from 'react';
import type { Instance } from '../../instances/instance.js';
import { currentSearch } from '../../location/hash-location.js';
import { keepList } from '../../location/left-list.js';
import { usePageTitle } from '../../ui/use-page-title.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import type { FleetState } from '../../fleet/fleet-store.js';
import { useRetryFleet } from '../../fleet/fleet-provider.js';
import { countOf, type BulkOperation, type ListKind, type RowAction } from '../list-kind.js';
import { withoutFilters } from '../list-place.js';
import { filterEntries, sortEntries } from '../list-view.js';
import { useListPlace } from '../use-list-place.js';
import { useSelection } from '../use-selection.js';
import { useShownColumns } from '../use-shown-columns.js';
import { BulkBar } from './bulk-bar.js';
import { ExportButton } from './export-button.js';
import { ListTable } from './list-table.js';
import { ListToolbar } from './list-toolbar.js';
import { NoMatch } from './no-match.js';
import { StatusChips } from './status-chips.js';

interface InstanceListProps<E extends Instance> {
  kind: ListKind<E>;
  fleet: Pick<FleetState<E>, 'entries' | 'phase' | 'error'>;
  actionsOf: (entry: E) => readonly RowAction[];
  onAction: (entry: E, action: string) => void;
  operations: readonly BulkOperation<E>[];
  /** The button that makes a new one. */
  create: ReactNode;
  /** What is shown while there is none. */
  empty: ReactNode;
}

/** Every instance of one kind and every context, in one table. */
export function InstanceList<E extends Instance>(props: InstanceListProps<E>) {
  const { kind, fleet, actionsOf, onAction, operations, create, empty } = props;
  const { phase, error } = fleet;
  usePageTitle(kind.title);
  const retry = useRetryFleet(kind.collection);
  const names = useMemo(() => Object.keys(kind.columns), [kind]);
  const [place, changePlace] = useListPlace(kind.place, names);
  useEffect(() => keepList(kind.place, currentSearch()), [kind, place]);
  const [shown, setColumns, room] = useShownColumns(kind);
  // Typing and scrolling go first; the list follows as soon as there is time.
  const followed = useDeferredValue(fleet.entries);
  const entries = followed.length === 0 ? fleet.entries : followed;
  const { search, filters, sort, descending } = useDeferredValue(place);
  const found = useMemo(() => filterEntries(entries, { search, filters }), [entries, search, filters]);
  const rows = useMemo(
    () => (sort === 'name' && !descending ? found : sortEntries(found, orderOf(kind, sort), descending)),
    [found, kind, sort, descending],
  );
  const selection = useSelection(entries, rows);

  if (fleet.entries.length === 0) {
    if (phase === 'loading') return <Spinner aria-label={`Loading ${kind.many}`} className="hg-centered" />;
    if (phase === 'lost')
      return (
        <div className="hg-page">
          <ErrorAlert title={`The ${kind.many} can't be shown`} error={error} onRetry={retry} />
        </div>
      );
    return empty;
  }

  return (
    <div className="hg-page hg-page--full" ref={room}>
      <h1 className="hg-hidden">{kind.title}</h1>
      <ListToolbar
        kind={kind}
        entries={entries}
        place={place}
        onChange={changePlace}
        shown={shown}
        onColumns={setColumns}
      >
        <ExportButton kind={kind} rows={rows} shown={shown} />
        {create}
      </ListToolbar>
      {selection.refs.size > 0 ? (
        <BulkBar kind={kind} selection={selection} rows={rows} operations={operations} />
      ) : (
        <StatusChips
          kind={kind}
          entries={entries}
          shown={rows.length}
          chosen={place.filters.status}
          onChange={(status) => changePlace({ filters: { ...place.filters, status } })}
        />
      )}
      {rows.length === 0 ? (
        <NoMatch what={countOf(kind, entries.length)} onClear={() => changePlace(withoutFilters(place))} />
      ) : (
        <ListTable
          kind={kind}
          rows={rows}
          shown={shown}
          place={place}
          onSort={changePlace}
          selection={selection}
          actionsOf={actionsOf}
          onAction={onAction}
        />
      )}
    </div>
  );
}

const orderOf = <E extends Instance>({ columns }: ListKind<E>, sort: string): ((entry: E) => string | number) =>
  columns[sort]?.order ?? (({ name }) => name);

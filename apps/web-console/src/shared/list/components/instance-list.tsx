import { useDeferredValue, useEffect, useMemo, type ReactNode } from 'react';
import type { Instance } from '../../instances/instance.js';
import { currentSearch } from '../../location/hash-location.js';
import { rememberListPath } from '../../location/last-list-path.js';
import { usePageTitle } from '../../ui/use-page-title.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Spinner } from '../../ui/loading.js';
import type { FleetState } from '../../fleet/fleet-store.js';
import { useRetryFleet } from '../../fleet/fleet-provider.js';
import { countLabel, type ListKind, type ListOperation, type RowAction } from '../list-kind.js';
import { isByName, withoutFilters } from '../list-query.js';
import { filterEntries, sortEntries } from '../list-view.js';
import { useListQuery } from '../use-list-query.js';
import { useSelection } from '../use-selection.js';
import { useValidQuery } from '../use-valid-query.js';
import { useShownColumns } from '../use-shown-columns.js';
import { BulkBar } from './bulk-bar.js';
import { ExportButton } from './export-button.js';
import { ListTable } from './list-table.js';
import { ListToolbar } from './list-toolbar.js';
import { NoMatch } from './no-match.js';
import { StatusChips } from './status-chips.js';

interface InstanceListProps<E extends Instance> {
  kind: ListKind<E>;
  fleet: Pick<FleetState<E>, 'entries' | 'firstRows' | 'phase' | 'error'>;
  actionsOf: (entry: E) => readonly RowAction[];
  onAction: (entry: E, action: string) => void;
  operations: readonly ListOperation<E>[];
  /** The create button. */
  create: ReactNode;
  /** Shown while the list is empty. */
  empty: ReactNode;
}

/** A table of all instances of one kind, from every context. */
export function InstanceList<E extends Instance>(props: InstanceListProps<E>) {
  const { kind, fleet, actionsOf, onAction, operations, create, empty } = props;
  const { phase, error } = fleet;
  usePageTitle(kind.title);
  const retry = useRetryFleet(kind.collection);
  const names = useMemo(() => Object.keys(kind.columns), [kind]);
  const [query, changeQuery] = useListQuery(kind.path, names);
  useEffect(() => rememberListPath(kind.path, currentSearch()), [kind, query]);
  const [shown, setColumns, measuredRef] = useShownColumns(kind);
  const isLoading = phase === 'loading';
  const known = isLoading ? fleet.firstRows : fleet.entries;
  // Typing and scrolling have priority over the list's own updates.
  const deferred = useDeferredValue(known);
  const entries = deferred.length === 0 ? known : deferred;
  /** Whether only the first rows are shown. */
  const isPartial = isLoading || entries === fleet.firstRows;
  const { query: search, problem } = useValidQuery(query.search);
  const deferredSearch = useDeferredValue(search);
  const { filters, sort, descending } = useDeferredValue(query);
  const found = useMemo(
    () => filterEntries(entries, { search: deferredSearch, filters }),
    [entries, deferredSearch, filters],
  );
  const rows = useMemo(
    () => (sort === 'name' && !descending ? found : sortEntries(found, orderOf(kind, sort), descending)),
    [found, kind, sort, descending],
  );
  const selection = useSelection(entries, rows);

  const heading = <h1 className="hg-hidden">{kind.title}</h1>;
  if (known.length === 0) {
    if (isLoading) return <Spinner label={`Loading ${kind.plural}`} isCentered />;
    const content =
      phase === 'lost' ? (
        <div className="hg-page">
          <ErrorAlert title={`Couldn't load the ${kind.plural}`} error={error} onRetry={retry} />
        </div>
      ) : (
        empty
      );
    return (
      <>
        {heading}
        {content}
      </>
    );
  }

  return (
    <div className="hg-page hg-page--full" ref={measuredRef}>
      {heading}
      <ListToolbar
        kind={kind}
        entries={entries}
        query={query}
        problem={problem}
        onChange={changeQuery}
        shown={shown}
        onColumns={setColumns}
      >
        {!isPartial && <ExportButton kind={kind} rows={rows} shown={shown} />}
        {create}
      </ListToolbar>
      {isPartial ? (
        <div className="hg-chips">
          <span className="hg-chips-total" role="status">
            Loading all {kind.plural}
          </span>
        </div>
      ) : selection.refs.size > 0 ? (
        <BulkBar kind={kind} selection={selection} rows={rows} operations={operations} />
      ) : (
        <StatusChips
          kind={kind}
          entries={entries}
          shown={rows.length}
          search={search}
          filters={query.filters}
          onChange={changeQuery}
        />
      )}
      {isPartial && !isByName(query) ? (
        <Spinner label={`Loading ${kind.plural}`} isCentered />
      ) : rows.length === 0 ? (
        <NoMatch total={countLabel(kind, entries.length)} onClear={() => changeQuery(withoutFilters(query))} />
      ) : (
        <ListTable
          kind={kind}
          rows={rows}
          shown={shown}
          query={query}
          onSort={changeQuery}
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

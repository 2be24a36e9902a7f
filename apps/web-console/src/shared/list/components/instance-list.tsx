import { t } from '@lingui/core/macro';
import { useCallback, useDeferredValue, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { BulkUndo } from '../../actions/action.js';
import { bulkOperations, type BulkOperation } from '../../actions/bulk-operations.js';
import { rowActions } from '../../actions/row-actions.js';
import { useActionRefusal } from '../../actions/use-action-refusal.js';
import { useActions } from '../../actions/use-actions.js';
import type { Instance } from '../../instances/instance.js';
import { currentSearch } from '../../location/hash-location.js';
import { rememberListPath } from '../../location/last-list-path.js';
import { usePageTitle } from '../../ui/use-page-title.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Spinner } from '../../ui/loading.js';
import type { FleetState } from '../../fleet/fleet-store.js';
import { useRetryFleet } from '../../fleet/fleet-provider.js';
import { countLabel, orderOf, type DialogOperation, type ListKind, type ListOperation } from '../list-kind.js';
import { isByName, withoutFilters } from '../list-query.js';
import { filterEntries, sortEntries } from '../list-view.js';
import { PastButton } from './past-button.js';
import { PastList } from './past-list.js';
import { useMoment } from '../use-moment.js';
import { useListActions } from '../use-list-actions.js';
import { useListQuery } from '../use-list-query.js';
import { usePeek } from '../use-peek.js';
import { useSelection } from '../use-selection.js';
import { useValidQuery } from '../use-valid-query.js';
import { useShownColumns } from '../use-shown-columns.js';
import { BulkBar } from './bulk-bar.js';
import { BulkPanel } from './bulk-panel.js';
import { ExportButton } from './export-button.js';
import { ListTable } from './list-table.js';
import { ListToolbar } from './list-toolbar.js';
import { NoMatch } from './no-match.js';
import { PeekPanel } from './peek-panel.js';
import { StatusChips } from './status-chips.js';

interface InstanceListProps<E extends Instance> {
  kind: ListKind<E>;
  /** The same without the present usage and progress. */
  pastKind: ListKind<E>;
  fleet: Pick<FleetState<E>, 'entries' | 'firstRows' | 'phase' | 'error'>;
  /** The path of an entry's console. */
  consoleOf: (entry: E) => string;
  /** Operations on many instances that have a dialog of their own. */
  dialogs?: readonly DialogOperation<E>[];
  /** The details of a row, shown in the panel. */
  renderPeek: (entry: E) => ReactNode;
  /** The create button. */
  create: ReactNode;
  /** Shown while the list is empty. */
  empty: ReactNode;
}

/** A table of all instances of one kind, from every context: now, or as of a moment. */
export function InstanceList<E extends Instance>(props: InstanceListProps<E>) {
  const [at, setMoment] = useMoment(props.kind.path);
  if (at !== undefined) return <PastList kind={props.pastKind} at={at} onMoment={setMoment} />;
  return <PresentList {...props} onMoment={setMoment} />;
}

function PresentList<E extends Instance>(props: InstanceListProps<E> & { onMoment: (at: string) => void }) {
  const { onMoment } = props;
  const { kind, fleet, consoleOf, dialogs = NO_DIALOGS, renderPeek, create, empty } = props;
  const { phase, error } = fleet;
  usePageTitle(kind.title);
  const retry = useRetryFleet();
  const names = useMemo(() => Object.keys(kind.columns), [kind]);
  const [query, changeQuery] = useListQuery(kind.path, names);

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
    () => (sort === 'name' && !descending ? found : sortEntries(found, orderOf(kind.columns, sort), descending)),
    [found, kind, sort, descending],
  );
  const selection = useSelection(entries, rows);
  const refusal = useActionRefusal();
  const actionsOf = useCallback((entry: E) => rowActions(entry, refusal), [refusal]);
  const operations = useMemo(
    () => withDialogs(bulkOperations(kind.collection, kind.plural, refusal), dialogs),
    [kind, refusal, dialogs],
  );
  const { dismiss } = useActions();
  const [bulk, setBulk] = useState<OpenOperation<E>>();
  const [peeked, peek] = usePeek(kind.path);
  const [walked, setWalked] = useState(peeked);
  const setActive = useCallback(
    (ref: string) => {
      setWalked(ref);
      // While the peek is open, it follows.
      if (peeked !== undefined) peek(ref);
    },
    [peeked, peek],
  );
  const onPeek = useCallback(
    (ref: string | undefined) => {
      dismiss();
      setBulk(undefined);
      if (ref !== undefined) setWalked(ref);
      peek(ref);
    },
    [dismiss, peek],
  );
  useEffect(() => rememberListPath(kind.path, currentSearch()), [kind, query, peeked]);
  const active = peeked ?? walked;
  const peekedEntry = peeked === undefined ? undefined : entries.find(({ ref }) => ref === peeked);
  const openOperation = (operation: ListOperation<E>): void => {
    dismiss();
    setBulk({ operation, members: selection.members });
  };
  const rowMenu = useListActions({ active: entries.find(({ ref }) => ref === active), consoleOf, peeked, onPeek });

  const heading = <h1 className="hg-hidden">{kind.title}</h1>;
  if (known.length === 0) {
    if (isLoading) return <Spinner label={t`Loading ${kind.plural}`} isCentered />;
    const content =
      phase === 'lost' ? (
        <div className="hg-page">
          <ErrorAlert title={t`Couldn't load the ${kind.plural}`} error={error} onRetry={retry} />
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
        create={create}
      >
        <PastButton onMoment={onMoment} />
        {!isPartial && <ExportButton kind={kind} rows={rows} shown={shown} />}
      </ListToolbar>
      {isPartial ? (
        <div className="hg-chips">
          <span className="hg-chips-total" role="status">
            {t`Loading all ${kind.plural}`}
          </span>
        </div>
      ) : selection.refs.size > 0 ? (
        <BulkBar kind={kind} selection={selection} rows={rows} operations={operations} onOperation={openOperation} />
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
        <Spinner label={t`Loading ${kind.plural}`} isCentered />
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
          onAction={rowMenu.onAction}
          active={active}
          setActive={setActive}
          onPeek={onPeek}
          onLeave={() => onPeek(undefined)}
        />
      )}
      {rowMenu.menu}
      {bulk && 'dialog' in bulk.operation && (
        <bulk.operation.dialog members={bulk.members} onClose={() => setBulk(undefined)} />
      )}
      {bulk && !('dialog' in bulk.operation) && (
        <BulkPanel
          key={`${bulk.operation.name} ${bulk.text ?? ''}`}
          kind={kind}
          operation={bulk.operation}
          members={bulk.refs ? entries.filter(({ ref }) => bulk.refs?.has(ref)) : selection.members}
          initialText={bulk.text ?? ''}
          onClose={() => setBulk(undefined)}
          onSelect={(failed) => {
            selection.only(failed);
            setBulk(undefined);
          }}
          onUndo={(refs, undo) => setBulk(openUndo(operations, refs, undo))}
        />
      )}
      {peeked !== undefined && !isPartial && !(bulk && !('dialog' in bulk.operation)) && (
        <PeekPanel kind={kind} peeked={peeked} entry={peekedEntry} rows={rows} render={renderPeek} onPeek={onPeek} />
      )}
    </div>
  );
}

const NO_DIALOGS: readonly never[] = [];

/** An operation whose plan, progress or result is shown. */
interface OpenOperation<E extends Instance> {
  readonly operation: ListOperation<E>;
  /** The selected instances when it was opened. */
  readonly members: readonly E[];
  /** Its instances, if they are not the selected ones. */
  readonly refs?: ReadonlySet<string>;
  readonly text?: string;
}

/** The operations with a dialog come before those with a text: they belong to the migrations. */
function withDialogs<E extends Instance>(
  operations: readonly BulkOperation[],
  dialogs: readonly DialogOperation<E>[],
): readonly ListOperation<E>[] {
  const at = operations.findIndex(({ input }) => input);
  return at < 0 ? [...operations, ...dialogs] : [...operations.slice(0, at), ...dialogs, ...operations.slice(at)];
}

/** The opposite of an operation, on the instances that it changed. */
function openUndo<E extends Instance>(
  operations: readonly ListOperation<E>[],
  refs: readonly string[],
  { action, text }: BulkUndo,
): OpenOperation<E> | undefined {
  const inverse = operations.find(({ name }) => name === action);
  return inverse && { operation: inverse, members: [], refs: new Set(refs), text };
}

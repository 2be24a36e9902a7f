import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useMemo, useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { Alert } from '../../ui/alert.js';
import { Button } from '../../ui/button.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Spinner } from '../../ui/loading.js';
import { Timestamp } from '../../ui/timestamp.js';
import { usePageTitle } from '../../ui/use-page-title.js';
import { useSettled } from '../../ui/use-settled.js';
import { ExportButton } from './export-button.js';
import { ListTable } from './list-table.js';
import { ListToolbar } from './list-toolbar.js';
import { NoMatch } from './no-match.js';
import { StatusChips } from './status-chips.js';
import { countLabel, orderOf, type ListKind } from '../list-kind.js';
import { withoutFilters } from '../list-query.js';
import { filterEntries, sortEntries } from '../list-view.js';
import { useListQuery } from '../use-list-query.js';
import { useSelection } from '../use-selection.js';
import { useShownColumns } from '../use-shown-columns.js';
import { useValidQuery } from '../use-valid-query.js';
import { MomentPicker } from './moment-picker.js';
import { usePastList, type PastEntries } from '../use-past-list.js';

/** The slider has many steps, and each list is a request. */
const SETTLE_MS = 250;
const NO_ACTIONS = (): readonly never[] => [];
const NOTHING = (): void => undefined;

interface PastListProps<E extends Instance> {
  kind: ListKind<E>;
  /** In ISO 8601. */
  at: string;
  onMoment: (at: string | undefined) => void;
}

/** A list as of a moment of the past. Nothing can be changed in it. */
export function PastList<E extends Instance>({ kind, at, onMoment }: PastListProps<E>) {
  usePageTitle(kind.title);
  const settled = useSettled(at, SETTLE_MS, at);
  const { data, error, refetch } = usePastList<E>(kind.collection, settled);
  return (
    <div className="hg-page hg-page--full hg-past">
      <h1 className="hg-hidden">{kind.title}</h1>
      <Alert
        variant="warning"
        title={t`You are viewing the past: nothing can be changed`}
        actions={<Button variant="secondary" onClick={() => onMoment(undefined)}>{t`Back to now`}</Button>}
      >
        <Trans>
          As of <Timestamp at={settled} />
        </Trans>
      </Alert>
      <MomentPicker at={at} onChange={onMoment} />
      {error ? (
        <ErrorAlert title={t`Couldn't load the ${kind.plural}`} error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Entries kind={kind} past={data} />
      ) : (
        <Spinner label={t`Loading ${kind.plural}`} isCentered />
      )}
    </div>
  );
}

function Entries<E extends Instance>({ kind, past }: { kind: ListKind<E>; past: PastEntries<E> }) {
  const { entries, gapSince, isPartial } = past;
  const names = useMemo(() => Object.keys(kind.columns), [kind]);
  const [query, changeQuery] = useListQuery(kind.path, names);
  const [shown, setColumns, measuredRef] = useShownColumns(kind);
  const { query: search, problem } = useValidQuery(query.search);
  const { filters, sort, descending } = query;
  const rows = useMemo(() => {
    const found = filterEntries(entries, { search, filters });
    return sort === 'name' && !descending ? found : sortEntries(found, orderOf(kind.columns, sort), descending);
  }, [entries, search, filters, kind, sort, descending]);
  const selection = useSelection(entries, rows);
  const [active, setActive] = useState<string>();
  return (
    <>
      {gapSince !== undefined ? (
        <Alert variant="info" title={t`Nothing was recorded then`}>
          <Trans>
            These are the last known entries, of <Timestamp at={gapSince} />
          </Trans>
        </Alert>
      ) : (
        isPartial && (
          <Alert variant="info" title={t`A context was lost then, and its entries are the last known ones`} />
        )
      )}
      <div ref={measuredRef}>
        <ListToolbar
          kind={kind}
          entries={entries}
          query={query}
          problem={problem}
          onChange={changeQuery}
          shown={shown}
          onColumns={setColumns}
          create={null}
        >
          <ExportButton kind={kind} rows={rows} shown={shown} />
        </ListToolbar>
      </div>
      <StatusChips
        kind={kind}
        entries={entries}
        shown={rows.length}
        search={search}
        filters={filters}
        onChange={changeQuery}
      />
      {rows.length === 0 ? (
        <NoMatch total={countLabel(kind, entries.length)} onClear={() => changeQuery(withoutFilters(query))} />
      ) : (
        <ListTable
          kind={kind}
          rows={rows}
          shown={shown}
          query={query}
          onSort={changeQuery}
          selection={selection}
          actionsOf={NO_ACTIONS}
          onAction={NOTHING}
          active={active}
          setActive={setActive}
          onPeek={setActive}
          onLeave={NOTHING}
        />
      )}
    </>
  );
}

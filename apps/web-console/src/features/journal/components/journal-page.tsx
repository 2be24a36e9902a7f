import { t } from '@lingui/core/macro';
import type { JournalEntryView } from '@headgate/api-contracts';
import { useId } from 'react';
import { Link } from 'wouter';
import { ActivityChart } from '../../../shared/activity/activity-chart.js';
import { SpanFields } from '../../../shared/activity/span-fields.js';
import { pathOfRef, paths } from '../../../shared/location/paths.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { useFollowedJournal } from '../api/use-followed-journal.js';
import { useJournal } from '../api/use-journal.js';
import { outcomes, useJournalFilters } from '../use-journal-filters.js';
import { JournalCallers } from './journal-callers.js';
import { Data } from '../../../shared/ui/data.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

/** Who did what, on all instances and the service itself. */
export function JournalPage() {
  usePageTitle(t`Journal`);
  const outcomeId = useId();
  const { fields, change, filters } = useJournalFilters();
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage } = useJournal(filters);
  useFollowedJournal(filters);
  const entries = data?.pages.flatMap((page) => page.entries);

  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {t`Journal`}
        </h1>
        <span className="hg-spring" />
        <Link href={paths.activity}>{t`Tasks`}</Link>
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      <ActivityChart />
      <form aria-label={t`Filters`} className="hg-filters hg-gap-below" onSubmit={(event) => event.preventDefault()}>
        <LabeledInput label={t`User`} value={fields.user} onChange={(user) => change({ user, token: '' })} />
        <LabeledInput
          label={t`Action`}
          placeholder="snapshot"
          value={fields.action}
          onChange={(action) => change({ action })}
        />
        <LabeledInput
          label={t`Object`}
          placeholder="vm/prod/default/web-1"
          value={fields.object}
          onChange={(object) => change({ object })}
        />
        <Field label={t`Outcome`} id={outcomeId}>
          <SelectInput id={outcomeId} value={fields.outcome} onChange={(outcome) => change({ outcome })}>
            <option value="">{t`All`}</option>
            {Object.entries(outcomes()).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectInput>
        </Field>
        <SpanFields />
      </form>
      <JournalCallers filters={filters} onChoose={change} />
      {error && <ErrorAlert title={t`Couldn't load the journal`} error={error} onRetry={() => void refetch()} />}
      {!entries && !error && <Skeleton height="10rem" label={t`Loading the journal`} />}
      {entries?.length === 0 && (
        <EmptyState title={t`No entries`} level={2}>
          {Object.keys(filters).length > 0
            ? t`No entry matches the filters.`
            : t`Changes and denied requests appear here, with their user and outcome.`}
        </EmptyState>
      )}
      {entries && entries.length > 0 && (
        <Table
          label={t`Journal`}
          className="hg-journal"
          columns={[t`Time`, t`User`, t`From`, t`Action`, t`Object`, t`Outcome`, t`Message`]}
        >
          {entries.map((entry) => (
            <JournalRow key={entry.number} entry={entry} />
          ))}
        </Table>
      )}
      {hasNextPage && (
        <Button variant="secondary" isDisabled={isFetching} onClick={() => void fetchNextPage()}>
          {t`Load older entries`}
        </Button>
      )}
    </div>
  );
}

function JournalRow({ entry }: { entry: JournalEntryView }) {
  const { time, kind, caller, token, address, action, ref, outcome, status, code, message } = entry;
  return (
    <tr>
      <td>
        <Timestamp at={time} />
      </td>
      <td>
        <Data>{caller || '–'}</Data>
        {token !== '' && t` (API token ${token})`}
      </td>
      <td translate="no">{address || '–'}</td>
      <td lang="en">{action}</td>
      <td translate="no">{isInstance(ref) ? <Link href={pathOfRef(ref)}>{ref}</Link> : ref || '–'}</td>
      <td>{outcomes()[outcome]}</td>
      <td>
        {kind === 'simulated' && <span className="hg-note">{t`Simulated`} </span>}
        <ServiceText>{message}</ServiceText>{' '}
        {outcome !== 'ok' && (
          <small className="hg-api-code" translate="no">
            {[status, code].filter(Boolean).join(' ')}
          </small>
        )}
      </td>
    </tr>
  );
}

const isInstance = (ref: string): boolean => /^(vm|ct)\//.test(ref);

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { ChangeCauseView, ChangeView } from '@headgate/api-contracts';
import { paths } from '../../../shared/location/paths.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import type { ReadInstance } from '../api/details-path.js';
import { useChanges } from '../api/use-changes.js';
import { changedFields } from '../changed-fields.js';

/** How an instance has changed, and who or what has probably changed it. */
export function ChangesSection({ address }: { address: ReadInstance }) {
  return (
    <section aria-label={t`Changes`} className="hg-section">
      <h2>{t`Changes`}</h2>
      <Changes address={address} />
    </section>
  );
}

function Changes({ address }: { address: ReadInstance }) {
  const { data, error, refetch, isFetching } = useChanges(address);
  if (error) return <ErrorAlert title={t`Couldn't load the changes`} error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height="10rem" label={t`Loading the changes`} />;
  const { changes, isCut } = data;
  return (
    <>
      <div className="hg-toolbar hg-gap-below">
        <span className="hg-note" role="status">
          {changes.length === 0
            ? t`No changes in the last 24 hours`
            : isCut
              ? t`The first 1,000 changes of the last 24 hours, newest first`
              : t`Changes of the last 24 hours, newest first`}
        </span>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      {changes.length > 0 && (
        <Table
          label={t`Changes`}
          columns={[t`Time`, t({ message: 'Change', context: 'column of a list' }), t`Probable cause`]}
        >
          {changes.map((change, index) => (
            <tr key={index}>
              <td>
                <Timestamp at={change.time} />
              </td>
              <td>
                <Change change={change} />
              </td>
              <td>{change.cause && <Cause cause={change.cause} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function Change({ change }: { change: ChangeView }) {
  if (change.type === 'gap')
    return (
      <Trans>
        Nothing was recorded since <Timestamp at={change.since ?? change.time} />
      </Trans>
    );
  if (change.type === 'added') return <>{t`Added to the list`}</>;
  if (change.type === 'removed') return <>{t`Removed from the list`}</>;
  if (change.type === 'detached') return <>{t`Left the list with its context`}</>;
  return (
    <>
      {changedFields(change).map(({ name, before, after }) => (
        <div key={name} translate="no">{`${name}: ${before} → ${after}`}</div>
      ))}
    </>
  );
}

function Cause({ cause }: { cause: ChangeCauseView }) {
  const { by, action = '', caller = '', task } = cause;
  const who = caller === '' ? '' : ` (${caller})`;
  if (by === 'action') return <Data>{`${action}${who}`}</Data>;
  if (by === 'task')
    return task === undefined ? (
      <Data>{action}</Data>
    ) : (
      <a href={`#${paths.task(task)}`} translate="no">{`${action}${who}`}</a>
    );
  if (by === 'context') return <>{t`The connection to its context`}</>;
  if (by === 'outside') return <>{t`Outside of Headgate`}</>;
  if (by === 'gap') return <>{t`Unknown: nothing was recorded`}</>;
  return <>{t`Unknown`}</>;
}

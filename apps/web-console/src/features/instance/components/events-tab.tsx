import { t } from '@lingui/core/macro';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import type { ReadInstance } from '../api/details-path.js';
import { useEvents } from '../api/use-events.js';
import { ChangesSection } from './changes-section.js';

/** Everything that happened to an instance: its events, and the changes of its entry. */
export function EventsTab({ address }: { address: ReadInstance }) {
  return (
    <div className="hg-page">
      <Events address={address} />
      <ChangesSection address={address} />
    </div>
  );
}

/** The events that the cluster reported about an instance, and the actions of this service on it. */
function Events({ address }: { address: ReadInstance }) {
  const { data: events, error, refetch, isFetching } = useEvents(address);
  if (error) return <ErrorAlert title={t`Couldn't load the events`} error={error} onRetry={() => void refetch()} />;
  if (!events) return <Skeleton height="20rem" label={t`Loading the events`} />;
  return (
    <>
      <div className="hg-toolbar hg-gap-below">
        <span className="hg-note" role="status">
          {events.length === 0 ? t`No events yet` : t`Latest events, newest first`}
        </span>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      {events.length > 0 && (
        <Table label={t`Events`} columns={[t`Time`, t`Type`, t`Event`, t`Details`, t`Source`]}>
          {events.map(({ time, type, reason, object, message, source, caller }, index) => (
            <tr key={index}>
              <td>
                <Timestamp at={time} />
              </td>
              <td>{type}</td>
              <td>{reason}</td>
              <td>
                {message} <span className="hg-note">{source === 'cluster' && object}</span>
              </td>
              <td>{source === 'cluster' ? t`Cluster` : caller || 'Headgate'}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

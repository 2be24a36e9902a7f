import { t } from '@lingui/core/macro';
import { Link } from 'wouter';
import { isVm, readOf, type Instance } from '../../../shared/instances/instance.js';
import { paths } from '../../../shared/location/paths.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useEvents } from '../api/use-events.js';
import { iconOf, isFailure, textOf } from '../event-marks.js';

const SHOWN_EVENTS = 8;

/** The last events of an instance, with the shapes that they have above the charts. */
export function ActivityCard({ vm }: { vm: Instance }) {
  const { data: events, error, refetch } = useEvents(readOf(vm));
  return (
    <section className="hg-card hg-activity" aria-label={t`Activity`}>
      <div className="hg-card-head">
        <h2>{t`Activity`}</h2>
        <Link href={isVm(vm) ? paths.vm(vm, 'events') : paths.container(vm, 'events')}>{t`All`}</Link>
      </div>
      {error && !events && (
        <ErrorAlert title={t`Couldn't load the events`} error={error} onRetry={() => void refetch()} />
      )}
      {events?.length === 0 && <p className="hg-note">{t`No events yet`}</p>}
      <ul>
        {events?.slice(0, SHOWN_EVENTS).map((event, index) => (
          <li key={index} className={isFailure(event) ? 'hg-time-mark--failure' : undefined}>
            <Icon name={iconOf(event)} />
            <span className="hg-activity-text">{textOf(event)}</span>
            <span className="hg-note">
              {event.source === 'cluster' ? t`Cluster` : event.caller || 'Headgate'}
              {' · '}
              <Timestamp at={event.time} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

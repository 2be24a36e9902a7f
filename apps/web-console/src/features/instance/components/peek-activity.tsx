import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { paths } from '../../../shared/location/paths.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useEvents } from '../api/use-events.js';
import { RunningTask } from './running-task.js';

const SHOWN_EVENTS = 6;

/** The tasks that use a VM, and the last events. */
export function PeekActivity({ vm, isWanted }: { vm: VmView; isWanted: boolean }) {
  const { data: events, error, refetch } = useEvents(vm, isWanted);
  return (
    <section className="hg-peek-activity" aria-label={t`Activity`}>
      <h3>
        <Trans>
          Activity <Link href={paths.vm(vm, 'events')}>All</Link>
        </Trans>
      </h3>
      <RunningTask subject={vm.ref} />
      {error && !events && (
        <ErrorAlert title={t`Couldn't load the events`} error={error} onRetry={() => void refetch()} />
      )}
      {events?.length === 0 && <p className="hg-note">{t`No events yet`}</p>}
      <ul>
        {events?.slice(0, SHOWN_EVENTS).map(({ time, type, reason, message, source, caller }, index) => (
          <li key={index}>
            <span lang="en" className={type === 'Warning' ? 'hg-status--warning' : undefined}>
              {[reason, message].filter(Boolean).join(': ')}
            </span>
            <span className="hg-note">
              {source === 'cluster' ? t`Cluster` : caller || 'Headgate'}
              {' · '}
              <Timestamp at={time} brief />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

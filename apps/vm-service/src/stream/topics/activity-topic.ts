import { everything } from '@headgate/access';
import type { ActivityView } from '@headgate/api-contracts';
import type { Audit, Caller, Clock, Log } from '@headgate/domain-contracts';
import type { ReadActivity } from '../../journal/read-activity.js';
import { PolledValue } from './polled-value.js';
import { eventText, Topic, type FollowedTopic, type TopicChange } from './topic.js';

/** How long entries of the journal may wait until they are counted. */
const COUNT_INTERVAL_MS = 1_000;

export interface ActivityTopicDeps {
  readonly read: Pick<ReadActivity, 'read'>;
  readonly audit: Pick<Audit, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The number of actions of the last 24 hours: `snapshot` after each entry of the journal. */
export class ActivityTopic extends Topic {
  override readonly name = 'activity';
  override readonly need = everything('read');
  override readonly isCostly = true;
  private readonly counts: PolledValue<ActivityView>;

  constructor({ read, audit, clock, log }: ActivityTopicDeps) {
    super();
    this.counts = new PolledValue({
      read: async () => read.read('24h'),
      clock,
      log,
      watch: (changed) => {
        let cancel: (() => void) | undefined;
        const stop = audit.subscribe(() => {
          cancel ??= clock.after(COUNT_INTERVAL_MS, () => {
            cancel = undefined;
            changed();
          });
        });
        return () => {
          stop();
          cancel?.();
        };
      },
    });
  }

  override follow(_reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const close = this.counts.subscribe((value) =>
      publish({ topic: this.name, key: 'counts', event: 'snapshot', data: () => value }),
    );
    const snapshot = () => {
      const { value } = this.counts;
      return value ? [Buffer.from(eventText('activity.snapshot', value))] : [];
    };
    return { snapshot, close };
  }
}

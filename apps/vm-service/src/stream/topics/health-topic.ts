import { everything } from '@headgate/access';
import type { StreamHealthView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import type { PolledValue } from './polled-value.js';
import { eventText, Topic, type FollowedTopic, type TopicChange } from './topic.js';

/** The number of checks of the doctor by their result: `snapshot` whenever it is different. */
export class HealthTopic extends Topic {
  override readonly name = 'health';
  override readonly need = everything('read');
  override readonly isCostly = true;

  constructor(private readonly counts: PolledValue<StreamHealthView>) {
    super();
  }

  override follow(_reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const close = this.counts.subscribe((value) =>
      publish({ topic: this.name, key: 'counts', event: 'snapshot', data: () => value }),
    );
    const snapshot = () => {
      const { value } = this.counts;
      return value ? [Buffer.from(eventText('health.snapshot', value))] : [];
    };
    return { snapshot, close };
  }
}

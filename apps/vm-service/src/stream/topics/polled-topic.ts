import type { Need } from '@headgate/access';
import type { StreamTopic } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import type { PolledValue } from './polled-value.js';
import { Topic, type FollowedTopic, type TopicChange } from './topic.js';
import { eventText } from '../../platform/event-text.js';

/** One value that all its readers see: `snapshot` whenever it is different. */
export class PolledTopic<T extends object> extends Topic {
  override readonly isCostly = true;

  constructor(
    override readonly name: StreamTopic,
    override readonly need: Need,
    private readonly value: PolledValue<T>,
  ) {
    super();
  }

  override follow(_reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const close = this.value.subscribe((value) =>
      publish({ topic: this.name, key: 'value', event: 'snapshot', data: () => value }),
    );
    const snapshot = () => {
      const { value } = this.value;
      return value ? [Buffer.from(eventText(`${this.name}.snapshot`, value))] : [];
    };
    return { snapshot, close };
  }
}

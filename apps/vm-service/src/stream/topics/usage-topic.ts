import { visibleInstances } from '@headgate/access';
import { formatRef, INSTANCE_KINDS, type Caller } from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import type { MetricsSampler } from '@headgate/metrics';
import { presentUsage } from '../../fleet/present-usage.js';
import { readable } from '../../fleet/readable.js';
import { Topic, type FollowedTopic, type TopicChange } from './topic.js';
import { eventText } from '../../platform/event-text.js';

/**
 * The usage of all measured instances: `snapshot` as the lists with `usage=only`, and after each reading of a context,
 * `changed` with all usages of that context.
 */
export class UsageTopic extends Topic {
  override readonly name = 'usage';
  override readonly need = visibleInstances;

  constructor(
    private readonly fleet: FleetReader,
    private readonly metrics: MetricsSampler,
  ) {
    super();
  }

  override follow(reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const close = this.metrics.subscribe((context) =>
      publish({
        topic: this.name,
        key: context,
        event: 'changed',
        data: () => ({ context, usages: this.usages(reader, context) }),
      }),
    );
    const snapshot = async () => {
      await this.fleet.whenSynced();
      return [Buffer.from(eventText('usage.snapshot', this.usages(reader)))];
    };
    return { snapshot, close };
  }

  private usages(reader: Caller | undefined, context?: string): object[] {
    const usages: object[] = [];
    for (const kind of INSTANCE_KINDS) {
      const all = this.fleet.all(kind);
      for (const { instance } of reader ? readable(all, reader.grant) : all) {
        if (context !== undefined && instance.ref.context !== context) continue;
        const sample = this.metrics.latest(instance);
        if (sample) usages.push({ ref: formatRef(instance.ref), usage: presentUsage(sample) });
      }
    }
    return usages;
  }
}

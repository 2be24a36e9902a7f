import { InstanceEvents, type InstanceEvent, type InstanceRef } from '@headgate/domain-contracts';
import type { InstanceFinder } from '../engine/instance-finder.js';
import type { EventHistory } from './event-history.js';

/** The events of an instance since the service started. */
export class IncusEvents extends InstanceEvents {
  constructor(
    private readonly finder: InstanceFinder,
    private readonly history: EventHistory,
  ) {
    super();
  }

  override async recent(ref: InstanceRef, limit: number): Promise<readonly InstanceEvent[]> {
    return this.history.recent(await this.finder.find(ref), limit);
  }
}

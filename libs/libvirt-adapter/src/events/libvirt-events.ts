import { InstanceEvents, type InstanceEvent, type InstanceRef } from '@headgate/domain-contracts';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { EventHistory } from './event-history.js';

/** The events of a domain since the service started. */
export class LibvirtEvents extends InstanceEvents {
  constructor(
    private readonly finder: DomainFinder,
    private readonly journal: EventHistory,
  ) {
    super();
  }

  override async recent(ref: InstanceRef, limit: number): Promise<readonly InstanceEvent[]> {
    const { name } = await this.finder.find(ref);
    return this.journal.recent(name, limit);
  }
}

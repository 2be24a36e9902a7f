import { InstanceEvents, type InstanceEvent, type InstanceRef } from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

/** Each status that an instance has had is an event. */
export class MemoryEvents extends InstanceEvents {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async recent(ref: InstanceRef, limit: number): Promise<readonly InstanceEvent[]> {
    this.engine.expectReachable();
    return this.engine.eventsOf(this.engine.instance(ref)).slice(0, limit);
  }
}

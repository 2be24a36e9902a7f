import { AtLeastOne } from './fields.js';

export class DelayedEventsSection {
  /** Pending events of one sender in one room. */
  @AtLeastOne() max_per_room = 100;
  /** 24 hours. */
  @AtLeastOne() max_delay_ms = 86_400_000;
}

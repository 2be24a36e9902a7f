import { AtLeastOne } from './fields.js';

export class DelayedEventsSection {
  /** The number of pending events per sender and room. */
  @AtLeastOne() max_per_room = 100;
  /** 24 hours. */
  @AtLeastOne() max_delay_ms = 86_400_000;
}

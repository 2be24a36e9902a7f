import { MAX_CAP, WholeNumber } from './fields.js';

/** 366 days. */
const MAX_DELAY_MS = 366 * 24 * 60 * 60 * 1000;

export class DelayedEventsSection {
  /** The number of pending events per sender and room. */
  @WholeNumber(MAX_CAP) max_per_room = 100;
  /** 24 hours. */
  @WholeNumber(MAX_DELAY_MS) max_delay_ms = 86_400_000;
}

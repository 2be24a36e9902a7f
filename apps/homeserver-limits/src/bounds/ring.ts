import { OLD_RING_EVENT_TYPES, RING_EVENT_TYPES } from '@headgate/matrix-protocol';
import type { LiveConfig } from '../config/live-config.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { Rates } from './rates.js';

/** The rate of rings. An attempt counts by its event type alone, whatever the room makes of it later. */
export class RingRate {
  constructor(
    private readonly rates: Rates,
    private readonly config: LiveConfig,
  ) {}

  isRing(eventType: string): boolean {
    if (RING_EVENT_TYPES.includes(eventType)) return true;
    return this.config.current.ratelimit.count_old_ring_names && OLD_RING_EVENT_TYPES.includes(eventType);
  }

  /** Throws or rejects with RateExceeded. */
  count(caller: Caller): void | Promise<void> {
    if (!caller.exemptFromRates) return this.rates.count(this.rates.ring, caller.userId);
  }
}

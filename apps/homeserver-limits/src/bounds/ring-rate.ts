import { OLD_RING_EVENT_TYPES, RING_EVENT_TYPES } from '@headgate/matrix-protocol';
import type { Caller } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rates } from '../rules/rates.js';

/** The rate of rings. An attempt counts by its event type alone, whether or not the room then accepts it. */
@Injectable()
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

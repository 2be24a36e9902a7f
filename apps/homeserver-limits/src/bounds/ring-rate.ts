import type { Admission } from '@headgate/limit-rules';
import { OLD_RING_EVENT_TYPES, RING_EVENT_TYPES } from '@headgate/matrix-protocol';
import type { Caller, MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import { factsOf } from './caller-facts.js';

/** The rate of rings. An attempt counts by its event type alone, whether or not the room then accepts it. */
@Injectable()
export class RingRate {
  constructor(
    private readonly rules: Rules,
    private readonly config: LiveConfig,
  ) {}

  isRing(eventType: string): boolean {
    if (RING_EVENT_TYPES.includes(eventType)) return true;
    return this.config.current.ratelimit.count_old_ring_names && OLD_RING_EVENT_TYPES.includes(eventType);
  }

  /** Throws or rejects with RuleExceeded. */
  count(caller: Caller, request: MatrixRequest): Admission | undefined | Promise<Admission> {
    if (caller.exemptFromRates) return undefined;
    return this.rules.admit(request, [{ event: 'ring', ...factsOf(caller), room: request.param('roomId') }]);
  }
}

import { OLD_RING_EVENT_TYPES, RING_EVENT_TYPES } from '@headgate/matrix-protocol';
import {
  type Caller,
  DEFAULT_JSON_LIMIT_BYTES,
  type MatrixRequest,
  type MatrixResponse,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import type { Next } from './bound.js';
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

  /** Counts the request if it is a ring, before it is handled. Rejects with RuleExceeded. */
  async run(caller: Caller, request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (caller.exemptFromRates || !this.isRing(request.param('eventType'))) return next();
    // A slow sender must not hold a place that callers share.
    if (this.rules.share('ring')) await request.bytes(DEFAULT_JSON_LIMIT_BYTES);
    return this.rules.run(request, [{ event: 'ring', ...factsOf(caller), room: request.param('roomId') }], next);
  }
}

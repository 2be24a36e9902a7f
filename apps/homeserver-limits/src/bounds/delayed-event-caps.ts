import {
  type Caller,
  delayedHolder,
  type Holdings,
  type MatrixRequest,
  type MatrixResponse,
} from '@headgate/homeserver-contracts';
import type { DecisionListener } from '@headgate/limits-nest';
import { MatrixError } from '@headgate/matrix-protocol';
import type { LiveConfig } from '../config/live-config.js';
import type { Caps } from '../rules/caps.js';
import type { Next } from './bound.js';

/** The two caps on delayed events: the longest delay, and the number pending per sender and room. */
export class DelayedEventCaps {
  constructor(
    private readonly caps: Caps,
    private readonly holdings: Holdings,
    private readonly config: LiveConfig,
    private readonly watch: DecisionListener = () => undefined,
  ) {}

  async run(caller: Caller, request: MatrixRequest, delayMs: number, next: Next): Promise<MatrixResponse> {
    const longestMs = this.config.current.delayed_events.max_delay_ms;
    this.watch('longest_delay', delayMs > longestMs ? 'refused' : 'granted');
    if (delayMs > longestMs) throw delayTooLong(longestMs);
    const roomId = request.param('roomId');
    const rewrite = await this.holdings.wasScheduled(caller, request);
    const write = { holder: delayedHolder(caller.userId, roomId), rewrite };
    const count = () => this.holdings.delayedEvents(caller, roomId, request);
    return this.caps.run(this.caps.delayedEvents, write, count, next);
  }
}

// Clients recognize a delay that is too long by exactly these members, and retry with a shorter one.
const delayTooLong = (longestMs: number) =>
  new MatrixError(400, 'M_UNKNOWN', `The longest delay is ${longestMs} ms.`, {
    extra: {
      'org.matrix.msc4140.errcode': 'M_MAX_DELAY_EXCEEDED',
      'org.matrix.msc4140.max_delay': longestMs,
    },
  });

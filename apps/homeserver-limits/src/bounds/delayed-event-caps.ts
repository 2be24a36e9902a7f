import {
  type Caller,
  delayedHolder,
  type Holdings,
  jsonBodyOf,
  type MatrixRequest,
  type MatrixResponse,
} from '@headgate/homeserver-contracts';
import type { DecisionListener } from '@headgate/limits-nest';
import { MatrixError } from '@headgate/matrix-protocol';
import type { LiveConfig } from '../config/live-config.js';
import type { Caps } from '../rules/caps.js';
import type { Rules } from '../rules/rules.js';
import type { Next } from './bound.js';

export interface DelayedEventCapsDeps {
  caps: Caps;
  rules: Pick<Rules, 'isExempt'>;
  holdings: Holdings;
  config: LiveConfig;
  watch: DecisionListener;
}

/** The two caps on delayed events: the longest delay, and the number pending per sender and room. */
export class DelayedEventCaps {
  constructor(private readonly deps: DelayedEventCapsDeps) {}

  async run(caller: Caller, request: MatrixRequest, delayMs: number, next: Next): Promise<MatrixResponse> {
    const { caps, rules, holdings, config, watch } = this.deps;
    const longestMs = config.current.delayed_events.max_delay_ms;
    watch('longest_delay', delayMs > longestMs ? 'refused' : 'granted');
    if (delayMs > longestMs) throw delayTooLong(longestMs);
    if (rules.isExempt(request, caller)) return next();
    const roomId = request.param('roomId');
    const rewrite = await holdings.wasScheduled(caller, request);
    const write = {
      holder: delayedHolder(caller.userId, roomId),
      rewrite,
      isHeld: (sent: MatrixResponse) => !wasSentAtOnce(sent),
    };
    const count = () => holdings.delayedEvents(caller, roomId, request);
    return caps.run(caps.delayedEvents, write, count, next);
  }
}

/** A homeserver without delayed events ignores the delay. */
function wasSentAtOnce(response: MatrixResponse): boolean {
  const { event_id, delay_id } = jsonBodyOf(response) ?? {};
  return typeof event_id === 'string' && delay_id === undefined;
}

// Clients recognize a delay that is too long by exactly these members, and retry with a shorter one.
const delayTooLong = (longestMs: number) =>
  new MatrixError(400, 'M_UNKNOWN', `The longest delay is ${longestMs} ms.`, {
    extra: {
      'org.matrix.msc4140.errcode': 'M_MAX_DELAY_EXCEEDED',
      'org.matrix.msc4140.max_delay': longestMs,
    },
  });

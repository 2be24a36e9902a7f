import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import { type DelayedEventCaps, delayInBody, delayInQuery, DELAY_PARAMETER } from './delayed-event.js';
import type { RingRate } from './ring.js';

/** Sending an event, now or later: rings have a rate, delayed events their caps, everything else passes. */
export class SendBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly ring: RingRate,
    private readonly delayed: DelayedEventCaps,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const rings = this.ring.isRing(request.param('eventType'));
    if (!rings && !request.hasQuery(DELAY_PARAMETER)) return next();
    const caller = await this.identity.callerOf(request);
    if (rings) await this.ring.count(caller);
    const delay = delayInQuery(request);
    return delay === undefined ? next() : this.delayed.run(caller, request, delay, next);
  }
}

/** Setting state: only a delayed one is bounded. */
export class SetStateBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly delayed: DelayedEventCaps,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    if (!request.hasQuery(DELAY_PARAMETER)) return next();
    const caller = await this.identity.callerOf(request);
    const delay = delayInQuery(request);
    return delay === undefined ? next() : this.delayed.run(caller, request, delay, next);
  }
}

/** Scheduling through the endpoint of the accepted proposal, with the delay in the body. */
export class ScheduleDelayedBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly ring: RingRate,
    private readonly delayed: DelayedEventCaps,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const caller = await this.identity.callerOf(request);
    if (this.ring.isRing(request.param('eventType'))) await this.ring.count(caller);
    return this.delayed.run(caller, request, delayInBody(await request.json()), next);
  }
}

import {
  type MatrixResponse,
  DELAY_PARAMETER,
  delayInBody,
  delayInQuery,
  Identity,
  type MatrixRequest,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next, type PathAndQuery } from './bound.js';
import { DelayedEventCaps } from './delayed-event-caps.js';
import { RingRate } from './ring-rate.js';

/** Sending an event, now or delayed: rings have a rate, delayed events have caps, everything else is unbounded. */
@Injectable()
export class SendBound extends Bound {
  override readonly operations = ['send'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly ring: RingRate,
    private readonly delayed: DelayedEventCaps,
  ) {
    super();
  }

  override appliesTo(request: PathAndQuery): boolean {
    return this.ring.isRing(request.param('eventType')) || request.hasQuery(DELAY_PARAMETER);
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (!this.appliesTo(request)) return next();
    const caller = await this.identity.callerOf(request);
    return this.ring.run(caller, request, async () => {
      const delay = delayInQuery(request);
      return delay === undefined ? next() : this.delayed.run(caller, request, delay, next);
    });
  }
}

/** Setting state: only a delayed state event is bounded. */
@Injectable()
export class SetStateBound extends Bound {
  override readonly operations = ['setState'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly delayed: DelayedEventCaps,
  ) {
    super();
  }

  override appliesTo(request: PathAndQuery): boolean {
    return request.hasQuery(DELAY_PARAMETER);
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (!this.appliesTo(request)) return next();
    const caller = await this.identity.callerOf(request);
    const delay = delayInQuery(request);
    return delay === undefined ? next() : this.delayed.run(caller, request, delay, next);
  }
}

/** Scheduling through the endpoint that the specification has accepted, with the delay in the body. */
@Injectable()
export class ScheduleDelayedBound extends Bound {
  override readonly operations = ['scheduleDelayed'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly ring: RingRate,
    private readonly delayed: DelayedEventCaps,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const caller = await this.identity.callerOf(request);
    return this.ring.run(caller, request, async () =>
      this.delayed.run(caller, request, delayInBody(await request.json()), next),
    );
  }
}

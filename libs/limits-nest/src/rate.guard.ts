import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { LimitRules } from './limit-rules.js';
import type { NamedRateRule } from './limited.js';
import { type TakenRoom, takeRoom } from './rate-decision.js';
import type { LimitedRequest } from './request-key.js';
import { RATE_RULES } from './rule-metadata.js';

const rooms = new WeakMap<object, readonly TakenRoom[]>();

/** The room that a request has taken and whose fate its outcome decides. */
export const roomsOf = (request: object): readonly TakenRoom[] => rooms.get(request) ?? [];

interface Reply {
  readonly raw?: { once(event: 'close', listener: () => void): unknown };
}

/** Refuses a request that is over a rate of its route, before anything else of the route runs. */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(private readonly rules: LimitRules) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!this.rules.ratesEnabled) return true;
    const declared = Reflect.getMetadata(RATE_RULES, context.getHandler()) as readonly NamedRateRule[];
    const http = context.switchToHttp();
    const request = http.getRequest<LimitedRequest>();
    const taken = await takeRoom(this.rules, declared, request);
    if (taken.length === 0) return true;
    rooms.set(request, taken);
    // Whatever ends the request before its handler has an outcome (a later guard, a lost connection) gives the room back.
    http.getResponse<Reply>().raw?.once('close', () => {
      for (const { reservation } of taken) void reservation.release();
    });
    return true;
  }
}

import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { of, type Observable } from 'rxjs';
import { knownCallerOf } from '../platform/caller.decorator.js';
import { isStream, keyedRequest, type KeyedRequest } from './keyed-request.js';
import { KeyedRequests } from './keyed-requests.js';

/** The header of an answer that is sent again. */
export const REPLAYED_HEADER = 'idempotency-replayed';

const CLAIMED = Symbol('claimed');
type MaybeClaimed = FastifyRequest & { [CLAIMED]?: KeyedRequest };

/** The idempotency key of a request that is carried out now. */
export const claimedBy = (request: FastifyRequest): KeyedRequest | undefined => (request as MaybeClaimed)[CLAIMED];

/** Claims the idempotency key of a request that the guards have admitted, or sends the first answer again. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly requests: KeyedRequests) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const caller = knownCallerOf(request);
    const keyed = caller && keyedRequest(request, caller);
    if (!keyed) return next.handle();
    const replay = await this.requests.begin(keyed);
    if (!replay) {
      (request as MaybeClaimed)[CLAIMED] = keyed;
      return next.handle();
    }
    // The rest of a file that is sent again.
    if (isStream(request.body)) request.body.resume();
    void http
      .getResponse<FastifyReply>()
      .status(replay.status)
      .headers({ ...replay.headers, [REPLAYED_HEADER]: 'true' });
    return of(replay.body);
  }
}

import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { httpRoute } from '../http/http-route.js';
import { reportOutcome } from '../http/outcome.js';
import { Attempt } from './attempt.js';

/** Settles an attempt by the outcome of its handler, before the response is sent. */
@Injectable()
export class RateOutcomeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { request, response } = httpRoute(context);
    const attempt = Attempt.of(request);
    if (!attempt || attempt.handled) return next.handle();
    attempt.handled = true;
    return next.handle().pipe(reportOutcome(response, (outcome) => attempt.settle(outcome)));
  }
}

import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { httpRoute } from '../http/http-route.js';
import { type Outcome, reportOutcome } from '../http/outcome.js';
import { LimitRules } from '../rules/limit-rules.js';
import { freeRulesOf } from '../rules/rule-metadata.js';

/** Frees the places of deleted items once their handler has succeeded. */
@Injectable()
export class FreeInterceptor implements NestInterceptor {
  constructor(private readonly rules: LimitRules) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { request, response } = httpRoute(context);
    const free = async (outcome: Outcome): Promise<void> => {
      if (outcome.kind !== 'succeeded') return;
      for (const { name, free: freedBy } of freeRulesOf(context.getHandler())) {
        const freed = await freedBy(request, outcome.result);
        if (freed) this.rules.free(name, freed.holder, freed.amount);
      }
    };
    return next.handle().pipe(reportOutcome(response, free));
  }
}

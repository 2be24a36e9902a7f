import { UseGuards, UseInterceptors } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import type { NamedRateRule, RateRule } from '../rules/rate-rule.js';
import { addRateRule, markDeclared, rateRulesOf } from '../rules/rule-metadata.js';
import { RateOutcomeInterceptor } from './rate-outcome.interceptor.js';
import { RateGuard } from './rate.guard.js';

/**
 * Limits how often a route is used, or all routes of a controller together. With several rules, a request passes all of
 * them, or counts under none.
 *
 * Rules run as a guard, in Nest's order: after the global guards and those of the controller, and after the guards
 * listed below `@RateLimit` on the same route.
 * @throws RateExceededException, from the route, when a rule refuses.
 */
export function RateLimit<Request extends LimitedRequest = LimitedRequest>(
  name: string,
  rule: RateRule<Request>,
): ClassDecorator & MethodDecorator {
  // The request's type is only known here; the guard passes on the framework's request.
  const named = { ...rule, name } as NamedRateRule;
  return (target: object, property?: string | symbol, descriptor?: PropertyDescriptor) => {
    const limited = (descriptor?.value ?? target) as object;
    const isFirst = rateRulesOf(limited).length === 0;
    addRateRule(limited, named);
    if (property !== undefined) markDeclared(target, property);
    if (!isFirst) return;
    for (const decorate of [UseGuards(RateGuard), UseInterceptors(RateOutcomeInterceptor)]) {
      if (descriptor) decorate(target, property!, descriptor);
      else (decorate as ClassDecorator)(target as new () => object);
    }
  };
}

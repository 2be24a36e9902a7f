import { UseGuards, UseInterceptors } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { markDeclared } from '../rules/declared-routes.js';
import { RateGuard } from './rate.guard.js';
import { RateOutcomeInterceptor } from './rate-outcome.interceptor.js';
import { type NamedRateRule, type RateRule, addRateRule, rateRulesOn } from '../rules/rate-rule.js';

/**
 * Bounds how often a route is used, or all routes of a controller together. Several rules: all of them let a request
 * through, or none counts it.
 *
 * Rules run where guards do, in Nest's order: after the global guards and the controller's, and after those that stand
 * below on the same route.
 * @throws RateExceeded, from the route, when a rule refuses.
 */
export function Limited<Request extends LimitedRequest = LimitedRequest>(
  name: string,
  rule: RateRule<Request>,
): ClassDecorator & MethodDecorator {
  // Only here is the request's type known; the guard hands over what the framework gives it.
  const named = { ...rule, name } as NamedRateRule;
  return (target: object, property?: string | symbol, descriptor?: PropertyDescriptor) => {
    const bounded = (descriptor?.value ?? target) as object;
    const first = rateRulesOn(bounded).length === 0;
    addRateRule(bounded, named);
    if (property !== undefined) markDeclared(target, property);
    if (!first) return;
    for (const decorate of [UseGuards(RateGuard), UseInterceptors(RateOutcomeInterceptor)]) {
      if (descriptor) decorate(target, property!, descriptor);
      else (decorate as ClassDecorator)(target as new () => object);
    }
  };
}

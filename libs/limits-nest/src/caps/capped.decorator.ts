import { UseInterceptors } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import type { CapRule, NamedCapRule } from '../rules/cap-rule.js';
import { addCapRule, capRulesOf, markDeclared } from '../rules/rule-metadata.js';
import { CapInterceptor } from './cap.interceptor.js';

/**
 * Limits how many items a route may create. The amount of a write is reserved while the handler runs, counts if the
 * handler succeeds, and is released if it fails. With several caps on a route, a write must fit under all of them.
 * @throws CapExceededException, from the route, when the write does not fit.
 */
export function Capped<Request extends LimitedRequest = LimitedRequest>(
  name: string,
  rule: CapRule<Request>,
): MethodDecorator {
  const named = { ...rule, name } as NamedCapRule;
  return (target, property, descriptor) => {
    const handler = descriptor.value as object;
    if (capRulesOf(handler).length === 0) UseInterceptors(CapInterceptor)(target, property, descriptor);
    addCapRule(handler, named);
    markDeclared(target, property);
  };
}

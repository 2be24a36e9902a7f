import { UseInterceptors } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { markDeclared } from '../rules/declared-routes.js';
import { type CapRule, type NamedCapRule, addCapRule, capRulesOn } from '../rules/cap-rule.js';
import { CapInterceptor } from './cap.interceptor.js';

/**
 * Bounds how much a route makes the server hold. Room is held while the handler runs; it is taken for good when the
 * handler succeeds and given back when it fails. Several caps: there must be room under all of them.
 * @throws CapExceeded, from the route, when there is no room.
 */
export function Capped<Request extends LimitedRequest = LimitedRequest>(
  name: string,
  rule: CapRule<Request>,
): MethodDecorator {
  const named = { ...rule, name } as NamedCapRule;
  return (target, property, descriptor) => {
    const handler = descriptor.value as object;
    if (capRulesOn(handler).length === 0) UseInterceptors(CapInterceptor)(target, property, descriptor);
    addCapRule(handler, named);
    markDeclared(target, property);
  };
}

import { UseInterceptors } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import type { FreeRule } from '../rules/cap-rule.js';
import { addFreeRule, freeRulesOf, markDeclared } from '../rules/rule-metadata.js';
import { FreeInterceptor } from './free.interceptor.js';

/** Subtracts the items that a route deletes from a cap, before the response of a successful request is sent. */
export function Frees<Request extends LimitedRequest = LimitedRequest>(
  cap: string,
  free: FreeRule<Request>,
): MethodDecorator {
  return (target, property, descriptor) => {
    const handler = descriptor.value as object;
    if (freeRulesOf(handler).length === 0) UseInterceptors(FreeInterceptor)(target, property, descriptor);
    addFreeRule(handler, { name: cap, free: free as FreeRule });
    markDeclared(target, property);
  };
}

import type { CapOffer } from '@headgate/limits-core';
import { UseInterceptors, type Type } from '@nestjs/common';
import { CapInterceptor } from './cap.interceptor.js';
import type { LimitedRequest } from './request-key.js';
import { CAP_RULE } from './rule-metadata.js';

/** Knows how many a holder holds; asked once for each holder. A provider of the module that declares the route. */
export abstract class HeldCounter {
  abstract count(holder: string): number | Promise<number>;
}

/** A cap, as its route declares it. */
export interface CapRule {
  readonly limit: number;
  /** The plural that a refusal uses: «pushers». */
  readonly what: string;
  /** What the request offers to whom; undefined: the cap does not apply to it. */
  readonly offer: (request: LimitedRequest) => CapOffer | undefined;
  readonly held: Type<HeldCounter>;
}

export interface NamedCapRule extends CapRule {
  readonly name: string;
}

/**
 * Bounds how much a route makes the server hold. Room is held while the handler runs; it is taken for good when the
 * handler succeeds and given back when it fails.
 * @throws CapExceeded, from the route, when there is no room.
 */
export function Capped(name: string, rule: CapRule): MethodDecorator {
  return (target, property, descriptor) => {
    Reflect.defineMetadata(CAP_RULE, { ...rule, name } satisfies NamedCapRule, descriptor.value as object);
    UseInterceptors(CapInterceptor)(target, property, descriptor);
  };
}

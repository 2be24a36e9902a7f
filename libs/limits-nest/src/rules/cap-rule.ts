import type { CapOffer } from '@headgate/limits-core';
import type { Type } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';

/** Knows how many a holder holds; asked once for each holder. A singleton provider of any module. */
export abstract class HeldCounter {
  abstract count(holder: string): number | Promise<number>;
}

/** A cap, as its route declares it. */
export interface CapRule<Request extends LimitedRequest = LimitedRequest> {
  readonly limit: number;
  /** The plural that a refusal uses: «pushers». */
  readonly what: string;
  /** What the request offers to whom; undefined: the cap does not apply to it. */
  readonly offer: (request: Request) => CapOffer | undefined;
  readonly held: Type<HeldCounter>;
}

export interface NamedCapRule extends CapRule {
  readonly name: string;
}

const CAP_RULES = Symbol('CAP_RULES');

export const capRulesOn = (handler: object): readonly NamedCapRule[] =>
  (Reflect.getMetadata(CAP_RULES, handler) as readonly NamedCapRule[] | undefined) ?? [];

/** In the order in which they are read: `rule` stands above those that are there. */
export const addCapRule = (handler: object, rule: NamedCapRule): void =>
  Reflect.defineMetadata(CAP_RULES, [rule, ...capRulesOn(handler)], handler);

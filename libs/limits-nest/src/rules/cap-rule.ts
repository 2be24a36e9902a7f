import type { CapWrite } from '@headgate/limits-core';
import type { Type } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';

/** Counts how many items a holder holds; called once per holder. A singleton provider of any module. */
export abstract class HeldCounter {
  abstract count(holder: string): number | Promise<number>;
}

/** A cap as declared on a route. */
export interface CapRule<Request extends LimitedRequest = LimitedRequest> {
  readonly limit: number;
  /** The plural noun in the text of a refusal: "pushers". */
  readonly resource: string;
  /** The write that a request makes, and its holder; undefined if the cap does not apply to the request. */
  readonly write: (request: Request) => CapWrite | undefined;
  readonly counter: Type<HeldCounter>;
}

export interface NamedCapRule extends CapRule {
  readonly name: string;
}

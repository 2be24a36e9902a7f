import type { CapWrite } from '@headgate/limits-core';
import type { Type } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';

/** Knows the items that holders hold. A singleton provider of any module. */
export abstract class HeldCounter {
  /** Counts how many items a holder holds; called once per holder. */
  abstract count(holder: string): number | Promise<number>;

  /** Optional: whether the holder already holds the item with this ID, so that writing it again is free. */
  has?(holder: string, id: string): boolean | Promise<boolean>;
}

/** A cap as declared on a route. */
export interface CapRule<Request extends LimitedRequest = LimitedRequest> {
  readonly limit: number;
  /** The plural noun in the text of a refusal: "pushers". */
  readonly resource: string;
  /** The write that a request makes, and its holder; undefined if the cap does not apply to the request. */
  readonly write: (request: Request) => CapWrite | undefined | Promise<CapWrite | undefined>;
  readonly counter: Type<HeldCounter>;
}

export interface NamedCapRule extends CapRule {
  readonly name: string;
}

/** The items that a request has deleted. */
export interface Freed {
  readonly holder: string;
  /** 1 by default. */
  readonly amount?: number;
}

/**
 * Returns the deleted items of a successful request from the value that its handler returned; undefined if there are
 * none.
 */
export type FreeRule<Request extends LimitedRequest = LimitedRequest> = (
  request: Request,
  result: unknown,
) => Freed | undefined | Promise<Freed | undefined>;

export interface NamedFreeRule {
  readonly name: string;
  readonly free: FreeRule;
}

import type { NamedCapRule, NamedFreeRule } from './cap-rule.js';
import type { NamedRateRule } from './rate-rule.js';

const RATE_RULES = Symbol('RATE_RULES');
const CAP_RULES = Symbol('CAP_RULES');
const FREE_RULES = Symbol('FREE_RULES');
const SKIPPED = Symbol('SKIPPED');
const DECLARED = Symbol('DECLARED');

/** The rules of a handler or a controller, including those of the controllers it extends. */
export const rateRulesOf = (target: object): readonly NamedRateRule[] =>
  (Reflect.getMetadata(RATE_RULES, target) as readonly NamedRateRule[] | undefined) ?? [];

/** Puts a rule in front of the others: decorators run bottom up, and rules are listed top down. */
export const addRateRule = (target: object, rule: NamedRateRule): void =>
  Reflect.defineMetadata(RATE_RULES, [rule, ...rateRulesOf(target)], target);

export const capRulesOf = (handler: object): readonly NamedCapRule[] =>
  (Reflect.getMetadata(CAP_RULES, handler) as readonly NamedCapRule[] | undefined) ?? [];

export const addCapRule = (handler: object, rule: NamedCapRule): void =>
  Reflect.defineMetadata(CAP_RULES, [rule, ...capRulesOf(handler)], handler);

export const freeRulesOf = (handler: object): readonly NamedFreeRule[] =>
  (Reflect.getMetadata(FREE_RULES, handler) as readonly NamedFreeRule[] | undefined) ?? [];

export const addFreeRule = (handler: object, rule: NamedFreeRule): void =>
  Reflect.defineMetadata(FREE_RULES, [rule, ...freeRulesOf(handler)], handler);

/** The names of the rates that a handler or a controller skips. An empty list means all rates, undefined none. */
export const skippedRatesOf = (target: object): readonly string[] | undefined =>
  Reflect.getMetadata(SKIPPED, target) as readonly string[] | undefined;

export const markSkipped = (target: object, names: readonly string[]): void =>
  Reflect.defineMetadata(SKIPPED, names, target);

/** Whether a handler or a controller skips a rate. */
export function skips(target: object, rate: string): boolean {
  const names = skippedRatesOf(target);
  return names !== undefined && (names.length === 0 || names.includes(rate));
}

/** Records that a method was declared with a rule, even if a different function replaces it later. */
export const markDeclared = (prototype: object, method: string | symbol): void =>
  Reflect.defineMetadata(DECLARED, true, prototype, method);

/** Whether the method, or one that it overrides, was declared with a rule. */
export const wasDeclared = (prototype: object, method: string): boolean =>
  Reflect.hasMetadata(DECLARED, prototype, method);

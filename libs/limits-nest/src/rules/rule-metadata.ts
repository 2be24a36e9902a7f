import type { NamedCapRule } from './cap-rule.js';
import type { NamedRateRule } from './rate-rule.js';

const RATE_RULES = Symbol('RATE_RULES');
const CAP_RULES = Symbol('CAP_RULES');
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

/** Records that a method was declared with a rule, even if a different function replaces it later. */
export const markDeclared = (prototype: object, method: string | symbol): void =>
  Reflect.defineMetadata(DECLARED, true, prototype, method);

/** Whether the method, or one that it overrides, was declared with a rule. */
export const wasDeclared = (prototype: object, method: string): boolean =>
  Reflect.hasMetadata(DECLARED, prototype, method);

import type { RuleFacts, RuleRefusal } from './rule.js';

/**
 * Receives each decision of each rule, in order. Metrics and logs implement it, so that the engine knows neither. It is
 * called in the middle of a decision: it must not throw, and it must not wait for anything.
 */
export interface RuleListener {
  onGranted(rule: string, key: string): void;
  /** @param isShadow the rule only reports */
  onRefused(refusal: RuleRefusal, facts: RuleFacts, isShadow: boolean): void;
}

import type { Rule } from './rule.js';

/** Limits of single keys in place of those of their rules. It is asked in the middle of a decision. */
export interface LimitOverrides {
  /** The limit of a key, at least 1; undefined for that of the rule. */
  limitOf(rule: Pick<Rule, 'name' | 'by' | 'limit'>, key: string): number | undefined;
}

export const NO_OVERRIDES: LimitOverrides = { limitOf: () => undefined };

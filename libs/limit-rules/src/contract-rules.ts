import type { Rule } from './rule.js';

const MINUTE_MS = 60_000;

const COMMON = {
  algorithm: 'fixed-window',
  counts: 'every',
  successClears: true,
  unit: 'requests',
  costs: {},
  exempt: { users: [], appservices: [], networks: [] },
  shadow: false,
} as const;

/** A rule with the terms that most rules have. */
export const ruleOf = (rule: Pick<Rule, 'name' | 'on' | 'by' | 'limit' | 'windowMs'> & Partial<Rule>): Rule => ({
  ...COMMON,
  ...rule,
});

/** The six rates of the contract, before the configuration changes them. */
export const CONTRACT_RULES: readonly Rule[] = [
  { name: 'login_account', on: ['login'], by: 'account', limit: 5, windowMs: MINUTE_MS, counts: 'failures' } as const,
  { name: 'login_source', on: ['login'], by: 'source', limit: 30, windowMs: MINUTE_MS, counts: 'failures' } as const,
  { name: 'register', on: ['registration'], by: 'source', limit: 5, windowMs: 5 * MINUTE_MS } as const,
  { name: 'ring', on: ['ring'], by: 'user', limit: 10, windowMs: MINUTE_MS } as const,
  { name: 'openid_token', on: ['openid_token'], by: 'user', limit: 20, windowMs: MINUTE_MS } as const,
  { name: 'sfu_credential', on: ['sfu_credential'], by: 'user', limit: 20, windowMs: MINUTE_MS } as const,
].map(ruleOf);

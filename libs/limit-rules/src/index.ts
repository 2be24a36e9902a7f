export { CONTRACT_RULES, ruleOf } from './contract-rules.js';
export { type Maybe, then } from './maybe.js';
export type { LimitOverrides } from './limit-overrides.js';
export type { RequestRecorder } from './request-recorder.js';
export * from './rule.js';
export { RuleEngine } from './rule-engine.js';
export type { RuleListener } from './rule-listener.js';
export { blockRateNamesOf, rateNamesOf } from './rule-rates.js';

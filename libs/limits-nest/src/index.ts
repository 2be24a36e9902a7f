export { type CapRule, HeldCounter } from './rules/cap-rule.js';
export { Capped } from './caps/capped.js';
export { MatrixErrorFilter } from './errors/matrix-error.filter.js';
export { type RateRefusalBody, rateRefusalBody, retryAfterSeconds, toMatrixError } from './errors/to-matrix-error.js';
export type { LimitedRequest } from './http/http-route.js';
export { type RequestKey, bySource, sourceKey } from './http/source-key.js';
export { statusOf } from './http/status-of.js';
export type { DecisionWatch, LimitOutcome } from './metrics/decision-watch.js';
export { LimitMetrics } from './metrics/limit-metrics.js';
export { LimitRules } from './rules/limit-rules.js';
export { LimitsModule } from './module/limits.module.js';
export {
  LIMITS_OPTIONS,
  type LimitsModuleExtras,
  type LimitsOptions,
  type LimitsOptionsFactory,
} from './rules/limits-options.js';
export { Limited } from './rates/limited.js';
export { RateDecisions } from './rules/rate-decisions.js';
export { RateGuard } from './rates/rate.guard.js';
export type { RateRule } from './rules/rate-rule.js';

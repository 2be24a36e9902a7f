export { Capped } from './caps/capped.decorator.js';
export { Frees } from './caps/frees.decorator.js';
export { CapExceededException, RateExceededException } from './errors/limit-exceptions.js';
export { MatrixErrorFilter } from './errors/matrix-error.filter.js';
export { type RateRefusalBody, rateRefusalBody, toMatrixError } from './errors/to-matrix-error.js';
export { type LimitedRequest, statusOf } from './http/http-route.js';
export { retryAfterSeconds } from './http/reply.js';
export { type RequestKey, bySource, sourceKey } from './http/source-key.js';
export {
  type DecisionListener,
  LimitMetrics,
  type LimitOutcome,
  type MetricsRegistry,
} from './metrics/limit-metrics.js';
export { LimitsModule } from './module/limits.module.js';
export { RateLimit } from './rates/rate-limit.decorator.js';
export { RateGuard } from './rates/rate.guard.js';
export { SkipRateLimit } from './rates/skip-rate-limit.decorator.js';
export { type CapRule, type FreeRule, type Freed, HeldCounter } from './rules/cap-rule.js';
export { LimitRules } from './rules/limit-rules.js';
export {
  LIMITS_OPTIONS,
  type LimitsModuleExtras,
  type LimitsOptions,
  type LimitsOptionsFactory,
} from './rules/limits-options.js';
export { RateEnforcer } from './rules/rate-enforcer.js';
export type { DefaultRateRule, RateRule, RequestLimit } from './rules/rate-rule.js';

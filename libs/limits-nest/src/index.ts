export { Capped, type CapRule, HeldCounter } from './capped.js';
export { LimitMetrics, type LimitOutcome } from './limit-metrics.js';
export { LimitRules } from './limit-rules.js';
export { Limited, type RateRule } from './limited.js';
export { type LimitsAsyncOptions, LimitsModule } from './limits.module.js';
export { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';
export { MatrixErrorFilter, toMatrixError } from './matrix-error.filter.js';
export { RateGuard } from './rate.guard.js';
export { type LimitedRequest, type RequestKey, bySource } from './request-key.js';

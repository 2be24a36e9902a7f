export type { ConnectionOptions } from './redis-connection.js';
export type { SentinelOptions, ServerOptions } from './server-options.js';
export { RedisRateLimiter, type RedisRateLimiterOptions } from './redis-rate-limiter.js';
export { ServerUnavailable, ServerTimeout } from './server-errors.js';

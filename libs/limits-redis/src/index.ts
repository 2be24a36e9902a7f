export type { ServerOptions } from './redis-connection.js';
export { RedisRateLimiter, type RedisRateLimiterOptions } from './redis-rate-limiter.js';
export { ServerUnavailable, ServerTimeout } from './server-errors.js';

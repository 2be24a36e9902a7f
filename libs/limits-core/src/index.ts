export { CachedClock } from './cached-clock.js';
export type { Cap, CapOptions, CapRefusal, CapReservation, CapWrite } from './cap.js';
export { CapLedger, type CapLedgerOptions, type CountHeld } from './cap-ledger.js';
export { Clock, ManualClock, MonotonicClock } from './clock.js';
export { FallbackRateLimiter, type FallbackRateLimiterOptions } from './fallback-rate-limiter.js';
export { CapExceeded, RateExceeded } from './limit-errors.js';
export { MemoryRateLimiter, type MemoryRateLimiterOptions } from './memory-rate-limiter.js';
export { RateLimiter, SharedRateLimiter } from './rate-limiter.port.js';
export {
  MAX_LIMIT,
  MAX_WINDOW_MS,
  type CountedKey,
  type Rate,
  type RateAlgorithm,
  type RateKey,
  type RateOptions,
  type RateRefusal,
  checkCountedKey,
  type Reservation,
  type WindowState,
} from './rate.js';
export { MAX_RATES } from './slot.js';
export { SnapshotError } from './snapshot-format.js';
export type { TableStats } from './window-table.js';

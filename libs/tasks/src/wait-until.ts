import type { Clock } from '@headgate/domain-contracts';

/** The clock may be corrected while it is waited for, and timers are limited to 24 days. */
const MAX_WAIT_MS = 60_000;

/**
 * Resolves at a time of the clock, or when the signal is aborted.
 * @param at milliseconds since the epoch
 */
export async function waitUntil(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let left = at - clock.now(); left > 0 && !signal.aborted; left = at - clock.now())
    await clock.delay(Math.min(left, MAX_WAIT_MS), signal);
}

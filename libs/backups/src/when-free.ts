import { DomainError, type Clock, type TaskContext } from '@headgate/domain-contracts';

const RETRY_MS = 15_000;
/** The watchdog of a step sees that it waits. */
const REPORT_MS = 10 * 60_000;
const MINUTE_MS = 60_000;

export interface Waiting extends Pick<TaskContext, 'signal' | 'log' | 'waitsFor'> {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly atMost: number;
}

/**
 * Repeats work on a target while another process excludes it: a clean-up, the backups of another schedule or service,
 * or restic.
 * @throws DomainError BUSY after the longest wait; any other error of the work at once
 */
export async function whenFree<T>(
  work: () => Promise<T>,
  { clock, atMost, signal, log, waitsFor }: Waiting,
): Promise<T> {
  const begun = clock.monotonic();
  let nextReport = 0;
  for (;;)
    try {
      return await work();
    } catch (error) {
      const waited = clock.monotonic() - begun;
      if (!isHeld(error) || waited >= atMost) throw error;
      if (waited >= nextReport) {
        log(waited === 0 ? error.message : `It has waited for ${Math.round(waited / MINUTE_MS)} min. ${error.message}`);
        waitsFor('the other use of the target to end');
        nextReport += REPORT_MS;
      }
      await clock.delay(RETRY_MS, signal);
      signal.throwIfAborted();
    }
}

/** The BUSY of a VM is another one: it does not have who uses the target. */
const isHeld = (error: unknown): error is DomainError =>
  DomainError.is(error, 'BUSY') && 'holder' in ((error.details ?? {}) as object);

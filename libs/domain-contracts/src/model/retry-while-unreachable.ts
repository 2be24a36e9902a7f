import type { Clock } from '@headgate/clock';
import { DomainError, messageOf } from '../values/domain-error.js';
import type { TaskContext } from './task-definition.js';

/** How long a backend may be unreachable. */
export const AWAY_LIMIT_MS = 60 * 60_000;
export const AWAY_PAUSE_MS = 10_000;

/**
 * Repeats work of a task until its backend answers, for up to an hour.
 * @throws what the work throws, and the reason of the signal if that is aborted during a pause
 */
export async function retryWhileUnreachable<T>(
  clock: Clock,
  { log, signal, isDelayed }: Pick<TaskContext, 'log' | 'signal' | 'isDelayed'>,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = clock.now() + AWAY_LIMIT_MS;
  for (let reported = ''; ;) {
    try {
      return await work();
    } catch (error) {
      const isAway = DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
      if (!isAway || clock.now() >= deadline) throw error;
      isDelayed?.();
      const reason = messageOf(error);
      if (reason !== reported) log(`${reason} Trying again.`);
      reported = reason;
    }
    await pause(clock, signal);
    signal.throwIfAborted();
  }
}

/** Ends early when the signal is aborted. */
const pause = (clock: Clock, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(AWAY_PAUSE_MS, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });

import { DomainError, messageOf, type Clock, type TaskContext } from '@headgate/domain-contracts';

/** How long a backend may be away before the move gives up. */
const LIMIT_MS = 60 * 60_000;
const PAUSE_MS = 10_000;

/** Repeats work until its backend answers: one that does not may still have the copy. */
export async function retryWhileAway<T>(clock: Clock, context: TaskContext, work: () => Promise<T>): Promise<T> {
  const deadline = clock.now() + LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
      if (!isAway || clock.now() >= deadline) throw error;
      context.log(`${messageOf(error)} Trying again.`);
    }
    await clock.delay(PAUSE_MS);
    context.signal.throwIfAborted();
  }
}

import { CanceledError, RepositoryError } from './errors.js';

/** @throws the reason of the signal if it is one of this library's errors, otherwise CanceledError */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/** The result of the work, or the error of `throwIfAborted` once the signal is aborted; the work is left alone. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  throwIfAborted(signal);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    work.catch(() => undefined);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof RepositoryError
    ? reason
    : new CanceledError('The operation was canceled.', { cause: reason });
}

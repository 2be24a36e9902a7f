/** Waits for a promise that never fails, or until the signal says that nobody needs to wait any more. */
export function untilAborted(signal: AbortSignal, wait: Promise<void>): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    void wait.then(done);
  });
}

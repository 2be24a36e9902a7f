import type { Clock } from '@headgate/domain-contracts';

/**
 * Watches a source of many events as one that reports at most once per interval.
 * @param subscribe calls back with each event, until the function that it returns is called
 */
export const soonAfter =
  (clock: Clock, intervalMs: number, subscribe: (event: () => void) => () => void) =>
  (changed: () => void): (() => void) => {
    let cancel: (() => void) | undefined;
    const stop = subscribe(() => {
      cancel ??= clock.after(intervalMs, () => {
        cancel = undefined;
        changed();
      });
    });
    return () => {
      cancel?.();
      stop();
    };
  };

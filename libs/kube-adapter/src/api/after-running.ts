import type { Clock } from '@headgate/domain-contracts';

const PARTS = 20;

/**
 * Calls back after `ms` milliseconds in which this process could read an answer, unless the returned function is called
 * before. A time in which it got no CPU counts as a twentieth of that at most: an answer that came meanwhile is read
 * first.
 */
export function afterRunning(clock: Clock, ms: number, callback: () => void): () => void {
  const part = Math.ceil(ms / PARTS);
  let cancel = (): void => undefined;
  const arm = (left: number): void => {
    cancel = clock.after(Math.min(part, left), () => (left > part ? arm(left - part) : callback()));
  };
  arm(ms);
  return () => cancel();
}

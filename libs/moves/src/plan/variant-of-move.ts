import { parseRef } from '@headgate/domain-contracts';
import type { MovePlan } from './move-plan.js';

const GIB = 2 ** 30;

/**
 * What decides how long a move takes, in few different values: the mode, the destination, and the next power of two of
 * the bytes, so that the time of a small VM is not promised for a large one.
 */
export function variantOfMove({
  mode,
  destination,
  estimatedBytes,
  estimatedDowntimeSeconds,
}: Omit<MovePlan, 'steps'>): string {
  const to = destination === '' ? '' : parseRef(destination).context;
  const gib = 2 ** Math.ceil(Math.log2(Math.max(1, estimatedBytes / GIB)));
  const isRunning = estimatedDowntimeSeconds !== null;
  return `${mode} to ${to}, ${isRunning ? 'running' : 'stopped'}, up to ${gib} GiB`;
}

import type { SampledInstance, Usage } from '../../usage.js';

/** The start of a file of each range. */
export const START = 6000 * 3 * 86_400_000;

/** So many that a frame is several pages, which a kill can separate. */
export const VMS = Array.from({ length: 500 }, (_none, index): SampledInstance => ({
  ref: { kind: 'vm', context: 'lab', namespace: 'default', name: `vm-${index}` },
  uid: String(index),
}));

/** Other values in each step. */
export const usageOf = (step: number): Usage => ({
  cpuMillicores: step % 1000,
  memoryUsedBytes: 2 ** 30,
  memoryTotalBytes: 2 ** 32,
  diskReadBytesPerSecond: null,
  diskWriteBytesPerSecond: null,
  networkReceiveBytesPerSecond: null,
  networkTransmitBytesPerSecond: null,
});

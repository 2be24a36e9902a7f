import type { CpuReading, InstanceReading, NodeReading } from '@headgate/domain-contracts';
import { MAX_LIVE_AGE_MS, type NodeLoad, type Usage } from './usage.js';

/** A reading and the time at which it was taken, in milliseconds since the epoch. */
export interface TimedReading<R> {
  readonly time: number;
  readonly reading: R;
}

/**
 * The usage between two readings. A rate is null without an earlier reading, after a gap, after the clock was set back,
 * and when the counter has started again because the guest restarted.
 */
export function usageBetween(
  before: TimedReading<InstanceReading> | undefined,
  { time, reading }: TimedReading<InstanceReading>,
): Usage {
  const elapsedMs = before ? time - before.time : 0;
  const perSecond = (
    counter: 'diskReadBytes' | 'diskWrittenBytes' | 'networkReceivedBytes' | 'networkTransmittedBytes',
  ): number | null => scaled(rate(before?.reading[counter], reading[counter], elapsedMs), 1000);
  return {
    cpuMillicores: cpuBetween(before?.reading, reading, elapsedMs),
    memoryUsedBytes: reading.memoryUsedBytes,
    memoryTotalBytes: reading.memoryTotalBytes,
    diskReadBytesPerSecond: perSecond('diskReadBytes'),
    diskWriteBytesPerSecond: perSecond('diskWrittenBytes'),
    networkReceiveBytesPerSecond: perSecond('networkReceivedBytes'),
    networkTransmitBytesPerSecond: perSecond('networkTransmittedBytes'),
  };
}

/** The load of a node between two readings, by the same rules. */
export const loadBetween = (
  before: TimedReading<NodeReading> | undefined,
  { time, reading }: TimedReading<NodeReading>,
): NodeLoad => ({
  time,
  cpuMillicores: cpuBetween(before?.reading, reading, before ? time - before.time : 0),
  memoryUsedBytes: reading.memoryUsedBytes,
});

const cpuBetween = (before: CpuReading | undefined, now: CpuReading, elapsedMs: number): number | null =>
  now.cpuMillicores ?? scaled(rate(before?.cpuTimeMs, now.cpuTimeMs, elapsedMs), 1000);

/** How much a counter grew per millisecond. */
function rate(before: number | null | undefined, now: number | null, elapsedMs: number): number | null {
  if (before === null || before === undefined || now === null) return null;
  if (elapsedMs <= 0 || elapsedMs > MAX_LIVE_AGE_MS || now < before) return null;
  return (now - before) / elapsedMs;
}

const scaled = (value: number | null, factor: number): number | null =>
  value === null ? null : Math.round(value * factor);

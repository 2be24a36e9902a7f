import type { InstanceRef } from '../values/instance-ref.js';

/** The usage of an instance. A value that the engine does not have is null. */
export interface Usage {
  /** 1000 is one CPU. */
  readonly cpuMillicores: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly diskReadBytesPerSecond: number | null;
  readonly diskWriteBytesPerSecond: number | null;
  readonly networkReceiveBytesPerSecond: number | null;
  readonly networkTransmitBytesPerSecond: number | null;
}

/** The usage of an instance during one step. */
export interface UsageStep {
  /** When the step began, in milliseconds since the epoch. */
  readonly time: number;
  readonly average: Usage;
  readonly maximum: Usage;
}

export interface StepRange {
  /** When the first and the last step begin, in milliseconds since the epoch: multiples of the step. */
  readonly from: number;
  readonly to: number;
  /** A multiple of 3 minutes, in milliseconds. */
  readonly stepMs: number;
}

/**
 * The invented usage of simulated instances before their cluster was opened. It is computed when it is read, and always
 * the same. Instances that were created later have none.
 */
export abstract class PastUsage {
  /** Oldest first. Steps in which the instance did not run are left out. */
  abstract steps(instance: { readonly ref: InstanceRef; readonly uid: string }, range: StepRange): UsageStep[];
}

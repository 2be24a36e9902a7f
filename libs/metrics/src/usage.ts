import type { InstanceRef, Usage } from '@headgate/domain-contracts';

export type { Usage };

/** The values of a usage, in the order in which rows of samples store them. */
export const USAGE_SERIES = [
  'cpuMillicores',
  'memoryUsedBytes',
  'memoryTotalBytes',
  'diskReadBytesPerSecond',
  'diskWriteBytesPerSecond',
  'networkReceiveBytesPerSecond',
  'networkTransmitBytesPerSecond',
] as const satisfies readonly (keyof Usage)[];

export interface Sample extends Usage {
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** One object of the directory: another one of the same name has no samples yet. */
export interface SampledInstance {
  readonly ref: InstanceRef;
  readonly uid: string;
}

/** Gets every sample, for a longer history. It never throws. */
export interface SampleRecorder {
  record(instance: SampledInstance, sample: Sample): void;
  /** Gives the history of an instance to the ref, and the object, that it has from now on. */
  carryOver(from: SampledInstance, to: SampledInstance): void;
}

/** The load of one node. */
export type NodeLoad = Pick<Sample, 'time' | 'cpuMillicores' | 'memoryUsedBytes'>;

export const SAMPLE_INTERVAL_MS = 15_000;
/** How long samples are kept. */
export const HISTORY_MS = 3_600_000;
/** An older sample does not describe the present. */
export const MAX_LIVE_AGE_MS = 4 * SAMPLE_INTERVAL_MS;

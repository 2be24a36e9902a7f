/** What an instance uses. A value that the engine does not have is null. */
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

export interface Sample extends Usage {
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** The load of one node. */
export type NodeLoad = Pick<Sample, 'time' | 'cpuMillicores' | 'memoryUsedBytes'>;

export const SAMPLE_INTERVAL_MS = 15_000;
/** How long samples are kept. */
export const HISTORY_MS = 3_600_000;
/** An older sample does not describe the present. */
export const MAX_LIVE_AGE_MS = 4 * SAMPLE_INTERVAL_MS;

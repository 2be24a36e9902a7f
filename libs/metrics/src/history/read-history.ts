import type { Clock, InstanceDirectory, InstanceQuery } from '@headgate/domain-contracts';
import type { MetricsSampler } from '../metrics-sampler.js';
import { HISTORY_MS, SAMPLE_INTERVAL_MS, type Usage } from '../usage.js';
import { averageOf, maximumOf } from './history-row.js';
import { LEVELS, type HistoryRange } from './levels.js';
import type { UsageHistory } from './usage-history.js';

/** The usage of an instance during one step. */
export interface HistoryPoint {
  /** When the step began, or the time of the sample, in milliseconds since the epoch. */
  readonly time: number;
  readonly average: Usage;
  readonly maximum: Usage;
}

export interface UsageOverTime {
  readonly range: HistoryRange;
  /** When the range begins and ends, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The time between two points, in milliseconds. */
  readonly stepMs: number;
  /** Oldest first. Steps without samples have no point. */
  readonly points: readonly HistoryPoint[];
}

/** Answers from the samples in memory for an hour, and from the files of this service for longer ranges. */
export class ReadHistory {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly sampler: MetricsSampler,
    private readonly history: UsageHistory,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError INSTANCE_NOT_FOUND, or INSTANCE_AMBIGUOUS */
  async read(query: InstanceQuery, range: HistoryRange): Promise<UsageOverTime> {
    const instance = this.directory.resolve(query);
    const to = this.clock.now();
    if (range === '1h') {
      const samples = this.sampler.history(instance);
      const points = samples.map((sample) => ({ time: sample.time, average: sample, maximum: sample }));
      return { range, from: to - HISTORY_MS, to, stepMs: SAMPLE_INTERVAL_MS, points };
    }
    const { rangeMs, stepMs } = LEVELS.find((level) => level.range === range)!;
    const rows = await this.history.read(instance, range);
    const points = rows.map((row) => ({ time: row.time, average: averageOf(row), maximum: maximumOf(row) }));
    return { range, from: to - rangeMs, to, stepMs, points };
  }
}

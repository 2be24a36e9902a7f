import type { Clock, InstanceDirectory, InstanceQuery, PastUsage, UsageStep } from '@headgate/domain-contracts';
import type { MetricsSampler } from '../metrics-sampler.js';
import { HISTORY_MS, SAMPLE_INTERVAL_MS, type SampledInstance } from '../usage.js';
import { averageOf, maximumOf } from './history-row.js';
import { firstStep, LEVELS, type HistoryRange, type Level } from './levels.js';
import type { UsageHistory } from './usage-history.js';

/** The usage of an instance during one step, or one sample. */
export interface HistoryPoint extends UsageStep {
  /** Whether it was invented for the past of a simulated instance. */
  readonly isSimulated?: true;
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

/**
 * Answers from the samples in memory for an hour, and from the files of this service for longer ranges. Steps of a
 * simulated instance that were not recorded are invented; those of any other are absent.
 */
export class ReadHistory {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly sampler: MetricsSampler,
    private readonly history: UsageHistory,
    private readonly clock: Clock,
    /** By the name of the context. */
    private readonly simulated: ReadonlyMap<string, PastUsage> = new Map(),
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
    const level = LEVELS.find((one) => one.range === range)!;
    const rows = await this.history.read(instance, range);
    const recorded = rows.map((row) => ({ time: row.time, average: averageOf(row), maximum: maximumOf(row) }));
    const points = this.withInvented(instance, level, to, recorded);
    return { range, from: to - level.rangeMs, to, stepMs: level.stepMs, points };
  }

  private withInvented(
    instance: SampledInstance,
    level: Level,
    now: number,
    recorded: readonly HistoryPoint[],
  ): readonly HistoryPoint[] {
    const past = this.simulated.get(instance.ref.context);
    if (!past) return recorded;
    const known = new Set(recorded.map(({ time }) => time));
    const steps = past.steps(instance, { from: firstStep(level, now), to: now, stepMs: level.stepMs });
    const invented = steps
      .filter(({ time }) => !known.has(time))
      .map((step) => ({ ...step, isSimulated: true as const }));
    return [...invented, ...recorded].sort((one, other) => one.time - other.time);
  }
}

import type { Metric, MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';

export interface FastHistogramOptions<Kind extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** Every value of the label. */
  readonly kinds: readonly Kind[];
  readonly buckets: readonly number[];
}

interface Series {
  /** How many values are in each bucket and in none before it; the last one has no upper bound. */
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram with one label, for the path of every request: `observe` of prom-client takes 3 to 8 µs, which is more
 * than the relay takes to read both heads.
 */
export class FastHistogram<Kind extends string> {
  private readonly series: Readonly<Record<Kind, Series>>;

  constructor(private readonly options: FastHistogramOptions<Kind>) {
    const empty = (): Series => ({ counts: new Array<number>(options.buckets.length + 1).fill(0), sum: 0 });
    this.series = Object.fromEntries(options.kinds.map((kind) => [kind, empty()])) as unknown as Record<Kind, Series>;
  }

  register(registry: Registry): void {
    // A registry needs only the name and the values of a metric.
    const metric: Pick<Metric, 'get'> & { name: string } = {
      name: this.options.name,
      get: () => Promise.resolve(this.values()),
    };
    registry.registerMetric(metric as unknown as Metric);
  }

  observe(kind: Kind, value: number): void {
    const { buckets } = this.options;
    const series = this.series[kind];
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  private values(): MetricObjectWithValues<MetricValueWithName<string>> {
    const { name, help, kinds } = this.options;
    return {
      name,
      help,
      aggregator: 'sum',
      values: kinds.flatMap((kind) => this.valuesOf(kind)),
      type: 'histogram' as never,
      collect: undefined as never,
    };
  }

  private valuesOf(kind: Kind): MetricValueWithName<string>[] {
    const { name, label, buckets } = this.options;
    const { counts, sum } = this.series[kind];
    let total = 0;
    const cumulative = counts.map((count, index) => ({
      metricName: `${name}_bucket`,
      labels: { le: buckets[index] ?? '+Inf', [label]: kind },
      value: (total += count),
    }));
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels: { [label]: kind }, value: sum },
      { metricName: `${name}_count`, labels: { [label]: kind }, value: total },
    ];
  }
}

import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricValues } from '../link/protocol.js';

/** Series that only grow. Those of a worker that has ended stay, so that the sums never shrink. */
const GROWING: readonly unknown[] = ['counter', 'histogram'];

/** The metrics of the workers, summed up with those of the main process. */
export class WorkerMetrics {
  /** The last values of each worker. */
  private readonly latest = new Map<object, readonly MetricValues[]>();
  private retired: readonly MetricValues[] = [];

  /** @param own the series of the main process */
  constructor(private readonly own: Registry) {}

  keep(worker: object, values: readonly MetricValues[]): void {
    this.latest.set(worker, values);
  }

  /** The worker has ended. */
  retire(worker: object): void {
    const values = this.latest.get(worker) ?? [];
    this.latest.delete(worker);
    const growing = values.filter(({ type }) => GROWING.includes(type));
    this.retired = sumOf([this.retired, growing]).getMetricsAsArray() as unknown as MetricValues[];
  }

  /** The sums, in the format of Prometheus. */
  async text(): Promise<string> {
    const own = (await this.own.getMetricsAsJSON()) as unknown as MetricValues[];
    return sumOf([own, ...this.latest.values(), this.retired]).metrics();
  }
}

const sumOf = (all: readonly (readonly MetricValues[])[]): Registry => AggregatorRegistry.aggregate([...all]);

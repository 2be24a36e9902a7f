import { Counter, Gauge, Registry } from 'prom-client';
import type { MetricValues } from '../link/protocol.js';
import { WorkerMetrics } from './worker-metrics.js';

/** The series of a process, as they arrive from a worker. */
function registryOf(requests: number, waiting: number): Registry {
  const registry = new Registry();
  const names = { help: 'x', registers: [registry] };
  new Counter({ ...names, name: 'requests_total', labelNames: ['kind'] }).inc({ kind: 'a' }, requests);
  new Gauge({ ...names, name: 'waiting' }).set(waiting);
  return registry;
}
const valuesOf = async (registry: Registry) =>
  JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())) as MetricValues[];

describe('WorkerMetrics', () => {
  test('adds the series of the workers to those of the main process, the latest of each worker', async () => {
    const metrics = new WorkerMetrics(registryOf(1, 1));
    const [one, two] = [{}, {}];
    metrics.keep(one, await valuesOf(registryOf(10, 2)));
    metrics.keep(two, await valuesOf(registryOf(100, 3)));
    metrics.keep(two, await valuesOf(registryOf(200, 4)));
    const text = await metrics.text();
    expect(text).toContain('requests_total{kind="a"} 211');
    expect(text).toContain('waiting 7');
  });

  test('keeps what a worker that has ended had counted, and not how much it had waiting', async () => {
    const metrics = new WorkerMetrics(registryOf(1, 1));
    for (let i = 0; i < 2; i++) {
      const worker = {};
      metrics.keep(worker, await valuesOf(registryOf(10, 2)));
      metrics.retire(worker);
      metrics.retire(worker);
    }
    const text = await metrics.text();
    expect(text).toContain('requests_total{kind="a"} 21');
    expect(text).toContain('waiting 1');
  });
});

import {
  PastUsage,
  type Instance,
  type InstanceDirectory,
  type StepRange,
  type Usage,
  type UsageStep,
} from '@headgate/domain-contracts';
import type { MetricsSampler } from '../metrics-sampler.js';
import { unknownValues, type HistoryRow } from './history-row.js';
import { ReadHistory } from './read-history.js';
import type { UsageHistory } from './usage-history.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = 6000 * 3 * DAY + 20 * MINUTE;
const UNKNOWN: Usage = {
  cpuMillicores: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  diskReadBytesPerSecond: null,
  diskWriteBytesPerSecond: null,
  networkReceiveBytesPerSecond: null,
  networkTransmitBytesPerSecond: null,
};

/** A step in each of a range, with one CPU, for the object `seeded`. */
class EachStep extends PastUsage {
  readonly ranges: StepRange[] = [];

  override steps({ uid }: { readonly uid: string }, range: StepRange): UsageStep[] {
    this.ranges.push(range);
    if (uid !== 'seeded') return [];
    const steps: UsageStep[] = [];
    for (let time = range.from; time <= range.to; time += range.stepMs)
      steps.push({ time, average: { ...UNKNOWN, cpuMillicores: 1000 }, maximum: UNKNOWN });
    return steps;
  }
}

describe('the history of an instance', () => {
  const invented = new EachStep();
  let recorded: HistoryRow[];
  beforeEach(() => (recorded = []));

  const read = async (context: string, uid = 'seeded', range: '1h' | '24h' | '7d' | '30d' = '30d') => {
    const instance = { ref: { kind: 'vm', context, namespace: 'web', name: 'db' }, uid } as Instance;
    const history = new ReadHistory(
      { resolve: () => instance } as unknown as InstanceDirectory,
      { history: () => [] } as unknown as MetricsSampler,
      { read: async () => recorded } as unknown as UsageHistory,
      { now: () => NOW } as never,
      new Map([['sandbox', invented]]),
    );
    return history.read({} as never, range);
  };
  const rowAt = (time: number): HistoryRow => ({ time, count: 1, values: unknownValues().with(0, 250) });

  test('of a simulated instance has an invented step wherever none was recorded, in order', async () => {
    recorded = [rowAt(NOW - 20 * MINUTE - 5 * HOUR), rowAt(NOW - 20 * MINUTE)];
    const { points } = await read('sandbox');
    expect(points).toHaveLength(720);
    expect(points.map(({ time }) => time)).toEqual(points.map(({ time }) => time).toSorted((a, b) => a - b));
    const measured = points.filter(({ isSimulated }) => !isSimulated);
    expect(measured.map(({ time, average }) => [time, average.cpuMillicores])).toEqual(
      recorded.map(({ time }) => [time, 250]),
    );
    expect(points[0]).toMatchObject({ isSimulated: true, average: { cpuMillicores: 1000 } });
  });

  test('never has an invented step in another context, or for another object of the same name', async () => {
    recorded = [rowAt(NOW - 20 * MINUTE)];
    for (const range of ['24h', '7d', '30d'] as const) {
      expect((await read('prod', 'seeded', range)).points).toHaveLength(1);
      expect((await read('sandbox', 'created-later', range)).points).toHaveLength(1);
    }
    expect(JSON.stringify((await read('prod')).points)).not.toContain('isSimulated');
  });

  test('is not invented for the last hour, whose samples are in memory', async () => {
    invented.ranges.length = 0;
    expect((await read('sandbox', 'seeded', '1h')).points).toEqual([]);
    expect(invented.ranges).toEqual([]);
  });

  test('is asked for whole steps of each range', async () => {
    invented.ranges.length = 0;
    for (const range of ['24h', '7d', '30d'] as const) await read('sandbox', 'seeded', range);
    expect(invented.ranges.map(({ from, to, stepMs }) => [stepMs, from % stepMs, to])).toEqual([
      [3 * MINUTE, 0, NOW],
      [15 * MINUTE, 0, NOW],
      [HOUR, 0, NOW],
    ]);
  });
});

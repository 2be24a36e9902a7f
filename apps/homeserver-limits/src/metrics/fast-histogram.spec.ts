import { Histogram, Registry } from 'prom-client';
import { FastHistogram } from './fast-histogram.js';

const OPTIONS = { name: 'seconds', help: 'How long it took.', buckets: [0.1, 1, 10] };

test('a fast histogram has the same text as one of prom-client', async () => {
  const [theirs, ours] = [new Registry(), new Registry()];
  const slow = new Histogram({ ...OPTIONS, labelNames: ['kind'], registers: [theirs] });
  const fast = new FastHistogram({ ...OPTIONS, label: 'kind', kinds: ['a', 'b'] });
  fast.register(ours);
  for (const kind of ['a', 'b'] as const) slow.zero({ kind });
  expect(await ours.metrics()).toBe(await theirs.metrics());
  for (const value of [0, 0.1, 0.100_001, 1, 5, 10, 11, 1e9]) {
    slow.observe({ kind: 'b' }, value);
    fast.observe('b', value);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
  expect(await ours.getMetricsAsJSON()).toMatchObject([{ name: 'seconds', type: 'histogram' }]);
});

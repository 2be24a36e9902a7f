import { openSuiteCluster } from './suite-cluster.js';

describe('the cluster of the suites', () => {
  test('keeps the process alive while it waits', async () => {
    const cluster = openSuiteCluster({ kubeconfig: '/nonexistent', namespace: 'suite' });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const stop = new AbortController();
    const waiting = cluster.clock.delay(60_000, stop.signal);
    expect(timers()).toBe(before + 1);
    stop.abort();
    await waiting;
    expect(timers()).toBe(before);
    cluster.close();
  });
});

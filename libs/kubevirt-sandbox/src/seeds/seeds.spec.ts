import { RESOURCES } from '../resources.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { simulatedCluster } from '../testing/simulated-cluster.js';
import { fleetName } from './seed-fleet.js';

const statusesOf = (cluster: ReturnType<typeof simulatedCluster>): Record<string, string | undefined> =>
  Object.fromEntries(
    cluster.store
      .list<VirtualMachine>(RESOURCES.vm)
      .map(({ metadata, status }) => [metadata.name, status?.printableStatus]),
  );

describe('seeds', () => {
  test('a seeded VM stays in its state, and its controllers find nothing to change', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedDemo();
    const seeded = cluster.store.revision;
    cluster.clock.advance(600_000);
    expect(statusesOf(cluster)).toEqual({
      web: 'Running',
      database: 'Running',
      build: 'Stopped',
      frozen: 'Paused',
      desktop: 'Running',
      lost: 'ErrorUnschedulable',
      broken: 'DataVolumeError',
    });
    expect(cluster.store.revision - seeded).toBe(0);
  });

  test('a seeded VM can be stopped and deleted like one that was started normally', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedVm({ name: 'web' });
    cluster.clock.advance(1_000);
    cluster.store.delete(RESOURCES.vm, { namespace: 'tailvm', name: 'web' });
    cluster.clock.advance(60_000);
    for (const resource of [RESOURCES.vm, RESOURCES.vmi, RESOURCES.pod, RESOURCES.dataVolume, RESOURCES.claim]) {
      expect(cluster.store.count(resource, 'tailvm')).toBe(0);
    }
  });

  test('a fleet is the same every time, with the requested size, in several namespaces and states', () => {
    const [first, second] = [simulatedCluster(), simulatedCluster()];
    first.simulation.seedFleet(300);
    second.simulation.seedFleet(300);
    expect(first.store.count(RESOURCES.vm)).toBe(300);
    expect(statusesOf(first)).toEqual(statusesOf(second));
    expect(new Set(Object.values(statusesOf(first)))).toEqual(
      new Set(['Running', 'Stopped', 'Paused', 'ErrorUnschedulable', 'DataVolumeError']),
    );
    expect(first.store.list(RESOURCES.vm).map(({ metadata }) => metadata.name)).toContain(fleetName(7));
    expect(new Set(first.store.list(RESOURCES.vm).map(({ metadata }) => metadata.namespace)).size).toBe(5);
  });

  test('an idle fleet schedules nothing', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(500);
    cluster.clock.advance(60_000);
    const { revision } = cluster.store;
    expect(cluster.clock.untilNext()).toBeUndefined();
    cluster.clock.advance(3_600_000);
    expect(cluster.store.revision).toBe(revision);
  });

  test('churn changes the requested number of VMs a second', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(50);
    cluster.clock.advance(1_000);
    let changes = 0;
    const stop = cluster.simulation.churn(100, { onChange: () => changes++ });
    cluster.clock.advance(10_000);
    stop();
    expect(changes).toBeGreaterThanOrEqual(995);
    expect(changes).toBeLessThanOrEqual(1_000);
    cluster.clock.advance(10_000);
    expect(changes).toBeLessThanOrEqual(1_000);
  });

  test('churn applies the given change', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(3);
    const stop = cluster.simulation.churn(1, {
      edit: ({ metadata }, serial) => void (metadata.labels = { turn: String(serial) }),
    });
    cluster.clock.advance(2_500);
    stop();
    const turns = cluster.store.list(RESOURCES.vm).map(({ metadata }) => metadata.labels);
    expect(turns.flatMap((labels) => labels?.['turn'] ?? [])).toEqual(['1', '2']);
  });
});

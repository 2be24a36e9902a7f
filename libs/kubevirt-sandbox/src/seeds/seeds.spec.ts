import { RESOURCES } from '../resources.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { type SimulatedCluster, simulatedCluster } from '../testing/simulated-cluster.js';
import type { KubeVirt } from '../types/kubevirt-kinds.js';
import type { Node, Pod } from '../types/core-kinds.js';
import { FOLDER_LABEL, fleetName } from './seed-fleet.js';
import type { VmSeed } from './vm-seed.js';

const HOUR_MS = 3_600_000;

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

  test('a fleet at rest is what seeding its VMs one by one gives, and its controllers find nothing to change', () => {
    const [fleet, single] = [simulatedCluster(), simulatedCluster()];
    fleet.simulation.seedFleet(200);
    const seeds: VmSeed[] = [];
    const containers = new Set<string>();
    simulatedCluster().simulation.seedFleet(200, {
      vm: (seed) => {
        seeds.push(seed);
        return seed;
      },
      container: (seed) => {
        containers.add(seed.name).add(`${seed.name}-data`);
        return seed;
      },
    });
    const nodes = fleet.store.list<Node>(RESOURCES.node).filter(({ metadata }) => metadata.name.startsWith('worker-'));
    single.store.load(nodes);
    single.simulation.seedVm(...seeds);
    const contents = (cluster: SimulatedCluster, resource: string): unknown[] =>
      cluster.store
        .list(resource, { where: ({ metadata }) => !containers.has(metadata.name) })
        .map(({ metadata: { resourceVersion: _revision, managedFields: _fields, ...metadata }, ...object }) => {
          const text = JSON.stringify({ ...object, metadata });
          // Addresses are given in another order, as the containers of the fleet have some.
          return JSON.parse(text.replace(/10\.\d+\.\d+\.\d+/g, 'ADDRESS')) as unknown;
        });
    for (const resource of [RESOURCES.vm, RESOURCES.vmi, RESOURCES.dataVolume, RESOURCES.claim]) {
      expect(contents(fleet, resource)).toEqual(contents(single, resource));
      expect(contents(fleet, resource).length).toBeGreaterThan(100);
    }
    const { revision } = fleet.store;
    fleet.simulation.resync();
    fleet.clock.advance(HOUR_MS);
    fleet.simulation.resync();
    fleet.clock.advance(HOUR_MS);
    expect(fleet.store.revision).toBe(revision);
  });

  test('seeding a fleet builds only its VMs that do not rest', () => {
    const cluster = simulatedCluster();
    const built: string[] = [];
    cluster.store.subscribe(RESOURCES.vm, ({ object }) => built.push(object.metadata.name), { atRest: 'when-built' });
    cluster.simulation.seedFleet(300);
    const unscheduled = built.length;
    expect(unscheduled).toBeLessThan(20);
    cluster.clock.advance(HOUR_MS);
    expect(built).toHaveLength(unscheduled);
    expect(cluster.store.list(RESOURCES.vm)).toHaveLength(300);
    expect(built).toHaveLength(300);
  });

  test('a VM of a fleet lives like one that was started normally, whichever of its objects is read first', () => {
    const cluster = simulatedCluster();
    const names: string[] = [];
    cluster.simulation.seedFleet(40, {
      vm: (seed) => {
        if (seed.status === 'Running') names.push(seed.name);
        return { ...seed, namespace: 'tailvm' };
      },
    });
    const [stopped, deleted, agentless, podless] = names;
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, { namespace: 'tailvm', name: stopped! }, ({ spec }) => {
      spec.runStrategy = 'Halted';
    });
    cluster.store.delete(RESOURCES.vm, { namespace: 'tailvm', name: deleted! });
    cluster.simulation.faults.inject('agent-gone', { namespace: 'tailvm', name: agentless! });
    const vmi = cluster.vmi(podless!)!;
    const [pod] = cluster.store.ownedBy(RESOURCES.pod, vmi.metadata.uid!);
    cluster.store.delete(RESOURCES.pod, pod!.metadata, { gracePeriodSeconds: 0 });
    cluster.clock.advance(HOUR_MS);
    expect(cluster.vm(stopped!)?.status?.printableStatus).toBe('Stopped');
    expect(cluster.vmi(stopped!)).toBeUndefined();
    expect(cluster.vm(deleted!)).toBeUndefined();
    expect(cluster.find(RESOURCES.claim, `${deleted}-root`)).toBeUndefined();
    expect(cluster.vmi(agentless!)?.status?.conditions?.map(({ type }) => type)).not.toContain('AgentConnected');
    // Its run strategy is Always, so it was started again.
    expect(cluster.vm(podless!)?.status?.printableStatus).toBe('Running');
    expect(cluster.vmi(podless!)?.metadata.uid).not.toBe(vmi.metadata.uid);
  });

  test('a fleet loads its nodes before its pods are built, so that new pods are spread', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(300);
    const { loads } = cluster.simulation.context;
    const nodes = cluster.store.list<Node>(RESOURCES.node).map(({ metadata }) => metadata.name);
    const workers = nodes.filter((name) => name.startsWith('worker-'));
    const loadOf = (): number[] => workers.map((name) => loads.pods(name));
    const before = loadOf();
    const placed = cluster.store
      .list<Pod>(RESOURCES.pod)
      .filter(({ spec, status }) => spec.nodeName?.startsWith('worker-') && status?.phase === 'Running');
    expect(loadOf()).toEqual(before);
    expect(before.every((load) => load > 0)).toBe(true);
    expect(before.reduce((sum, load) => sum + load)).toBe(placed.length);
  });

  test('a pod of a fleet without a node is placed when one fits', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(120);
    cluster.clock.advance(1_000);
    const lost = cluster.store
      .list<VirtualMachine>(RESOURCES.vm)
      .filter(({ status }) => status?.printableStatus === 'ErrorUnschedulable');
    expect(lost.length).toBeGreaterThan(0);
    cluster.simulation.seedNode({ name: 'node-that-left' });
    cluster.clock.advance(HOUR_MS);
    for (const { metadata } of lost) {
      expect(cluster.store.get<VirtualMachine>(RESOURCES.vm, metadata)?.status?.printableStatus).toBe('Running');
    }
  });

  test('a cluster that protects its VMs gives each VM of a fleet a disruption budget', () => {
    const cluster = simulatedCluster();
    cluster.store.patch<KubeVirt>(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' }, ({ spec }) => {
      spec.configuration = { ...spec.configuration, evictionStrategy: 'LiveMigrate' };
    });
    cluster.simulation.seedFleet(30);
    cluster.clock.advance(60_000);
    const running = cluster.store.list<VirtualMachine>(RESOURCES.vm, {
      where: ({ status }) => status?.created === true,
    });
    expect(cluster.store.count(RESOURCES.disruptionBudget)).toBe(running.length);
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

  test('a fleet has a name of its own for each VM, in folders, and spreads over nodes of three sizes in three zones', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(1_000);
    const vms = cluster.store.list<VirtualMachine>(RESOURCES.vm);
    const names = vms.map(({ metadata }) => metadata.name);
    expect(new Set(names).size).toBe(1_000);
    expect(names).toEqual(expect.arrayContaining(['api-gw-03', 'kafka-broker-4', 'orders-db-1', 'mail-relay-01']));
    const folders = vms.map(({ metadata }) => metadata.annotations?.[FOLDER_LABEL] ?? '');
    expect(folders.every((path) => /^(prod|stage|dev|lab)(\/[a-z0-9]+){1,2}$/.test(path))).toBe(true);
    const nodes = cluster.store
      .list<Node>(RESOURCES.node)
      .filter(({ metadata }) => metadata.name.startsWith('worker-'));
    expect(new Set(nodes.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'])).size).toBe(3);
    expect(new Set(nodes.map(({ status }) => status?.capacity?.['memory'])).size).toBe(3);
    for (const { metadata } of nodes) expect(cluster.simulation.context.loads.pods(metadata.name)).toBeGreaterThan(0);
  });

  test.each([
    [7, 2],
    [40, 6],
    [10_000, 67],
  ])('no node of a fleet of %i VMs runs more than it has', (count, expected) => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(count);
    const nodes = cluster.store
      .list<Node>(RESOURCES.node)
      .filter(({ metadata }) => metadata.name.startsWith('worker-'));
    expect(nodes).toHaveLength(expected);
    for (const node of nodes)
      expect(cluster.simulation.context.loads.shortages(node, { cpu: 0, memory: 0 })).toEqual([]);
  });

  test('guests of a fleet were started at another time than their VM was created, and never before', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(100);
    const started = cluster.store
      .list<VirtualMachine>(RESOURCES.vmi)
      .map(({ metadata: { name, namespace = '', ...vmi } }) => {
        const vm = cluster.store.get<VirtualMachine>(RESOURCES.vm, { namespace, name })!;
        return Date.parse(vmi.creationTimestamp!) - Date.parse(vm.metadata.creationTimestamp!);
      });
    expect(started.every((ageMs) => ageMs >= 0)).toBe(true);
    expect(started.filter((ageMs) => ageMs > 0).length).toBeGreaterThan(started.length / 2);
  });

  test('with incidents, one VM crashes and the image of another is missing, for as long as the cluster runs', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedFleet(60, { incidents: true });
    const statusOf = (name: string): string | undefined => statusesOf(cluster)[name];
    expect(cluster.store.count(RESOURCES.vm)).toBe(60);
    const seen = { crash: new Set<string | undefined>(), pull: new Set<string | undefined>() };
    for (let minute = 0; minute < 60; minute++) {
      cluster.clock.advance(60_000);
      seen.crash.add(statusOf('stage-orders-api-1'));
      seen.pull.add(statusOf('stage-search-1'));
    }
    expect(seen.crash).toContain('CrashLoopBackOff');
    expect(seen.crash).not.toContain('Running');
    expect(seen.pull).toContain('ImagePullBackOff');
    expect(seen.pull).not.toContain('Running');
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

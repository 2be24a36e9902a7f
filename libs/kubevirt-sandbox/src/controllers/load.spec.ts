import { ApiError, type Cancel, ManualClock, type StoreEvent } from '@headgate/kube-sandbox';
import { isProtected } from '../eviction-strategy.js';
import { RESOURCES } from '../resources.js';
import { LOCAL_CLASS, SHARED_CLASS } from '../seeds/seed-cluster.js';
import { buildVirtualMachine, simulatedCluster } from '../testing/simulated-cluster.js';
import type { Node, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

const OPERATIONS = 4_000;
/** Another seed gives other operations: HEADGATE_LOAD_SEED=11 npx jest src/controllers/load. */
const SEED = Number(process.env['HEADGATE_LOAD_SEED'] ?? 7);
const VM_NAMES = 40;
const HOUR_MS = 3_600_000;
const NAMESPACE = 'tailvm';

/** Some timers fire a millisecond early, as those of the operating system do. */
class UnevenClock extends ManualClock {
  constructor(private readonly random: (limit: number) => number) {
    super();
  }

  override schedule(callback: () => void, delayMs: number): Cancel {
    return super.schedule(callback, this.random(20) === 0 ? delayMs - 1 : delayMs);
  }
}

/** Numbers from 0 to below a limit, the same in every run (a linear congruential generator). */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function openCluster(seed: number) {
  const random = randomNumbers(seed);
  const nodes = ['node-a', 'node-b', 'node-c'].map((name) => ({ name, memory: '72Gi', cpus: 32 }));
  const cluster = simulatedCluster({ cluster: { nodes } }, new UnevenClock(random));
  const { store, create, clock, simulation } = cluster;
  const vmName = (): string => `vm-${random(VM_NAMES)}`;
  const setRunStrategy = (name: string, runStrategy: 'Always' | 'Halted'): void => {
    if (!cluster.vm(name)) return;
    store.patch<VirtualMachine>(RESOURCES.vm, { namespace: NAMESPACE, name }, ({ spec }) => {
      spec.runStrategy = runStrategy;
    });
  };
  const remove = (resource: string, name: string): void => {
    if (store.get(resource, { namespace: NAMESPACE, name })) store.delete(resource, { namespace: NAMESPACE, name });
  };
  const setUnschedulable = (unschedulable: boolean, name: string): void => {
    store.patch<Node>(RESOURCES.node, { name }, (node) => {
      node.spec = { ...node.spec, unschedulable };
    });
  };
  let serial = 0;
  const source = (name: string) => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name });
  const operations: readonly [weight: number, operate: () => unknown][] = [
    [25, () => create(vmWithDisk(vmName(), random))],
    [15, () => setRunStrategy(vmName(), 'Always')],
    [12, () => setRunStrategy(vmName(), 'Halted')],
    [15, () => remove(RESOURCES.vm, vmName())],
    [8, () => create(migrationOf(vmName(), ++serial))],
    [
      5,
      () =>
        create({
          apiVersion: 'snapshot.kubevirt.io/v1beta1',
          kind: 'VirtualMachineSnapshot',
          metadata: { name: `snapshot-${random(20)}`, namespace: NAMESPACE },
          spec: { source: source(vmName()) },
        } as never),
    ],
    [3, () => remove(RESOURCES.snapshot, `snapshot-${random(20)}`)],
    [3, () => remove(RESOURCES.restore, `restore-${random(10)}`)],
    [2, () => remove(RESOURCES.clone, `clone-${random(10)}`)],
    [
      3,
      () =>
        create({
          apiVersion: 'snapshot.kubevirt.io/v1beta1',
          kind: 'VirtualMachineRestore',
          metadata: { name: `restore-${random(10)}`, namespace: NAMESPACE },
          spec: {
            target: source(vmName()),
            virtualMachineSnapshotName: `snapshot-${random(20)}`,
            targetReadinessPolicy: 'StopTarget',
            volumeRestorePolicy: (['RandomizeNames', 'InPlace', 'PrefixTargetName'] as const)[random(3)],
          },
        } as never),
    ],
    [
      2,
      () =>
        create({
          apiVersion: 'clone.kubevirt.io/v1beta1',
          kind: 'VirtualMachineClone',
          metadata: { name: `clone-${random(10)}`, namespace: NAMESPACE },
          spec: { source: source(vmName()), target: source(vmName()) },
        } as never),
    ],
    // A pod that is deleted, such as by a node failure.
    [
      4,
      () => {
        const pods = store.list<Pod>(RESOURCES.pod, { namespace: NAMESPACE });
        const pod = pods[random(pods.length)];
        if (pod) store.delete(RESOURCES.pod, pod.metadata);
      },
    ],
    // A guest that shuts down.
    [
      1,
      () => {
        const name = vmName();
        if (cluster.vmi(name)?.status?.phase === 'Running') {
          cluster.simulation.guestOf(NAMESPACE, name).typeOnSerial('root\r\rpoweroff\r');
        }
      },
    ],
    // A launcher pod that is to be evicted.
    [
      2,
      () => {
        const vmi = cluster.vmi(vmName());
        if (vmi?.status?.phase !== 'Running' || !isProtected(simulation.context, vmi)) return;
        store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, ({ status }) => {
          status!.evacuationNodeName = status!.nodeName;
        });
      },
    ],
    [2, () => setUnschedulable(true, `node-${'abc'[random(3)]}`)],
    [2, () => setUnschedulable(false, `node-${'abc'[random(3)]}`)],
  ];
  const total = operations.reduce((sum, [weight]) => sum + weight, 0);
  const operate = (): void => {
    let pick = random(total);
    const [, act] = operations.find(([weight]) => (pick -= weight) < 0)!;
    try {
      act();
    } catch (error) {
      // Refusals belong to the load: a taken name, a migration of a stopped VM.
      if (!(error instanceof ApiError)) throw error;
    }
    clock.advance(random(1_500));
  };
  return { ...cluster, operate, setUnschedulable, random };
}

function vmWithDisk(name: string, random: (limit: number) => number): VirtualMachine {
  const runStrategy = (['Always', 'Halted', 'RerunOnFailure'] as const)[random(3)]!;
  const vm = buildVirtualMachine(name, { runStrategy });
  vm.spec.template.spec.evictionStrategy = (['None', 'LiveMigrate', 'LiveMigrateIfPossible'] as const)[random(3)]!;
  if (random(3) === 0) return vm;
  const storageClassName = random(2) === 0 ? SHARED_CLASS : LOCAL_CLASS;
  const disk = `${name}-disk`;
  vm.spec.dataVolumeTemplates = [
    {
      metadata: { name: disk },
      spec: {
        source: random(2) === 0 ? { blank: {} } : { http: { url: 'https://images.example/fedora.qcow2' } },
        storage: { storageClassName, resources: { requests: { storage: '2Gi' } } },
      },
    },
  ];
  vm.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: disk } }];
  return vm;
}

const migrationOf = (vmiName: string, serial: number) =>
  ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: `migration-${serial}`, namespace: NAMESPACE },
    spec: { vmiName },
  }) as never;

describe('the controllers under load', () => {
  test(`leave nothing undone after ${OPERATIONS} operations (seed ${SEED})`, () => {
    const cluster = openCluster(SEED);
    const { store, clock, simulation } = cluster;
    for (let count = 0; count < OPERATIONS; count++) cluster.operate();
    for (const node of ['node-a', 'node-b', 'node-c']) cluster.setUnschedulable(false, node);
    clock.advance(3 * HOUR_MS);

    const changes: string[] = [];
    store.subscribe('*', ({ type, resource, object }: StoreEvent) => {
      if (resource !== 'events') changes.push(`${type} ${resource} ${object.metadata.name}`);
    });
    simulation.resync();
    clock.advance(3 * HOUR_MS);
    expect(changes).toEqual([]);

    // Nothing is on its way any more.
    const phases = (resource: string): (string | undefined)[] => [
      ...new Set(store.list<VirtualMachineInstance>(resource).map(({ status }) => status?.phase)),
    ];
    const unbound = store.list<PersistentVolumeClaim>(RESOURCES.claim, {
      where: ({ spec, status }) => spec.storageClassName === SHARED_CLASS && status?.phase !== 'Bound',
    });
    expect(unbound).toEqual([]);
    expect(phases(RESOURCES.vmi).filter((phase) => phase !== 'Running' && phase !== 'Succeeded')).toEqual([]);
    expect(store.list(RESOURCES.vm).filter(({ metadata }) => metadata.deletionTimestamp)).toEqual([]);
    const held = store.list<VirtualMachine>(RESOURCES.vm).filter(({ metadata: { namespace }, status }) => {
      const { restoreInProgress: restore, snapshotInProgress: snapshot } = status ?? {};
      return (
        (restore && !store.get(RESOURCES.restore, { namespace, name: restore })) ||
        (snapshot && !store.get(RESOURCES.snapshot, { namespace, name: snapshot }))
      );
    });
    expect(held).toEqual([]);
    expect(store.count(RESOURCES.vm)).toBeGreaterThan(10);
  }, 600_000);
});

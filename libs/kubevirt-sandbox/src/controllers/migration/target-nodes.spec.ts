import type { EventObject } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { buildVirtualMachine, simulatedCluster, type SimulatedCluster } from '../../testing/simulated-cluster.js';
import { findCondition } from '../../types/condition.js';
import type { Node, Pod } from '../../types/core-kinds.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance, VmiSpec } from '../../types/virtual-machine-instance.js';

const MACHINE = 'machine-type.node.kubevirt.io/pc-q35-rhel9.6.0';
const MODEL = 'cpu-model-migration.node.kubevirt.io/Cascadelake-Server';
const TIMEOUT_MS = 300_000;

/** A running VM with the name web on one of two nodes with the same CPU; the third one has another vendor. */
function given(
  options: Parameters<typeof simulatedCluster>[0] = {},
  change: (spec: VmiSpec) => void = () => undefined,
) {
  const cluster = simulatedCluster(options);
  const machine = buildVirtualMachine('web');
  change(machine.spec.template.spec);
  cluster.create(machine);
  cluster.clock.advance(30_000);
  return { ...cluster, ...helpers(cluster) };
}

function helpers({ store, create, vmi, find, clock }: SimulatedCluster) {
  const nodeName = () => vmi('web')!.status!.nodeName!;
  const migration = () => find<Migration>(RESOURCES.migration, 'migrate-web');
  return {
    nodeName,
    migration,
    phase: () => migration()?.status?.phase,
    other: () => (nodeName() === 'node-a' ? 'node-b' : 'node-a'),
    migrate: (addedNodeSelector?: Record<string, string>, name = 'migrate-web') => {
      create<Migration>({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstanceMigration',
        metadata: { name, namespace: 'tailvm' },
        spec: { vmiName: 'web', ...(addedNodeSelector && { addedNodeSelector }) },
      });
      clock.advance(2_000);
    },
    target: () =>
      store
        .ownedBy<Pod>(RESOURCES.pod, vmi('web')!.metadata.uid!)
        .find(({ metadata }) => metadata.labels?.['kubevirt.io/migration-target-pod']),
    change: (name: string, edit: (node: Node) => void) => void store.patch<Node>(RESOURCES.node, { name }, edit),
    events: (reason: string) =>
      store.list<EventObject>('events', { where: (event) => event.reason === reason }).map(({ message }) => message),
  };
}

const without =
  (label: string) =>
  ({ metadata }: Node): void =>
    void delete metadata.labels![label];
const withLabel =
  (label: string) =>
  ({ metadata }: Node): void =>
    void (metadata.labels![label] = 'true');

describe('the target pod of a migration', () => {
  test('needs the CPU of the source and the machine of the guest, and leaves its node', () => {
    const { migrate, target, vmi } = given();
    migrate({ rack: 'r1', 'kubernetes.io/arch': 'ignored' });
    expect(target()?.spec.nodeSelector).toEqual({
      rack: 'r1',
      'kubernetes.io/arch': 'amd64',
      'kubevirt.io/schedulable': 'true',
      'cpu-vendor.node.kubevirt.io/Intel': 'true',
      [MODEL]: 'true',
      'cpu-feature.node.kubevirt.io/ssbd': 'true',
      'cpu-feature.node.kubevirt.io/arch-capabilities': 'true',
      [MACHINE]: 'true',
    });
    expect(target()?.spec.affinity).toEqual({
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            labelSelector: { matchLabels: { 'kubevirt.io/created-by': vmi('web')!.metadata.uid } },
            topologyKey: 'kubernetes.io/hostname',
          },
        ],
      },
    });
  });

  test.each([
    ['a named model', 'Haswell', { 'cpu-model.node.kubevirt.io/Haswell': 'true' }],
    ['the model of its first host', 'host-model', { [MODEL]: 'true' }],
  ])('needs %s', (_what, model, expected) => {
    const { migrate, target } = given({}, ({ domain }) => void (domain.cpu = { ...domain.cpu, model }));
    migrate();
    const models = Object.entries(target()!.spec.nodeSelector!).filter(([label]) => label.startsWith('cpu-model'));
    expect(Object.fromEntries(models)).toEqual(expected);
  });

  test('does not exist for a guest with the CPU of its host', () => {
    const { migrate } = given({}, ({ domain }) => void (domain.cpu = { ...domain.cpu, model: 'host-passthrough' }));
    expect(() => migrate()).toThrow('Reason: CPUModeLiveMigratable');
  });

  test('needs the machine type of the spec while the guest reports none', () => {
    const { migrate, target, store } = given();
    store.patch<VirtualMachineInstance>(RESOURCES.vmi, { namespace: 'tailvm', name: 'web' }, ({ status }) => {
      delete status!.machine;
    });
    migrate();
    const selector = target()!.spec.nodeSelector!;
    expect(selector).toHaveProperty(['machine-type.node.kubevirt.io/q35'], 'true');
    expect(selector).not.toHaveProperty([MACHINE]);
  });

  test('keeps the CPU of the first host after a migration', () => {
    const cluster = given();
    const { migrate, change, other, target, clock, nodeName } = cluster;
    const second = other();
    change(second, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'host-model-cpu.node.kubevirt.io/Haswell': 'true' };
      delete metadata.labels['host-model-cpu.node.kubevirt.io/Cascadelake-Server'];
    });
    migrate();
    clock.advance(60_000);
    expect(nodeName()).toBe(second);
    cluster.store.delete(RESOURCES.migration, { namespace: 'tailvm', name: 'migrate-web' });
    migrate(undefined, 'back');
    const targets = cluster.store
      .ownedBy<Pod>(RESOURCES.pod, cluster.vmi('web')!.metadata.uid!)
      .map(({ spec }) => Object.keys(spec.nodeSelector!).filter((label) => label.startsWith('cpu-model')));
    expect(target()).toBeDefined();
    expect(targets).toEqual([[MODEL], [MODEL]]);
  });

  test('keeps the affinity of the VM', () => {
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-a'] }] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
    const { migrate, target, phase } = given({}, (spec) => void (spec.affinity = { nodeAffinity }));
    migrate();
    expect(target()?.spec.affinity).toMatchObject({ nodeAffinity, podAntiAffinity: {} });
    expect(phase()).toBe('Scheduling');
  });

  test.each([
    ['1.5', { machine: false, vendor: false }],
    ['1.6', { machine: true, vendor: false }],
    ['1.8', { machine: true, vendor: true }],
  ] as const)('of %s needs what that release selects: %j', (kubevirtVersion, { machine, vendor }) => {
    const { migrate, target } = given({ kubevirtVersion });
    migrate();
    const labels = Object.keys(target()!.spec.nodeSelector!);
    expect([labels.includes(MACHINE), labels.includes('cpu-vendor.node.kubevirt.io/Intel')]).toEqual([machine, vendor]);
  });
});

describe('a target pod that no node can run', () => {
  const stuck = () => {
    const cluster = given();
    const free = cluster.other();
    cluster.change(free, without(MACHINE));
    cluster.migrate();
    return { ...cluster, free };
  };

  test("has the scheduler's reason, and the migration stays in Scheduling", () => {
    const { clock, target, phase, vmi, vm, events } = stuck();
    clock.advance(TIMEOUT_MS - 10_000);
    expect(phase()).toBe('Scheduling');
    expect(target()?.status?.phase).toBe('Pending');
    expect(findCondition(target()?.status?.conditions, 'PodScheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message:
        "0/3 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
    });
    expect(events('migrationTargetPodUnschedulable')).toEqual([
      'Migration target pod for VMI [tailvm/web] is currently unschedulable.',
    ]);
    expect(vmi('web')?.status).toMatchObject({ phase: 'Running' });
    expect(vm('web')?.status?.printableStatus).toBe('Running');
  });

  test('is deleted after five minutes, which fails the migration without a reason in its status', () => {
    const { clock, target, phase, migration, events } = stuck();
    clock.advance(TIMEOUT_MS);
    expect(target()).toBeUndefined();
    expect(phase()).toBe('Failed');
    expect(migration()?.status?.migrationState).toBeUndefined();
    expect(events('SuccessfulDelete').at(-1)).toMatch(
      /^unschedulable pod tailvm\/virt-launcher-web-\w+ timeout period/,
    );
    expect(events('FailedMigration')).toEqual(['Migration target pod was removed during active migration.']);
  });

  test('runs as soon as a node gets the label', () => {
    const { clock, change, free, phase, nodeName } = stuck();
    clock.advance(60_000);
    expect(phase()).toBe('Scheduling');
    change(free, withLabel(MACHINE));
    clock.advance(60_000);
    expect([phase(), nodeName()]).toEqual(['Succeeded', free]);
  });

  test('fails the migration when it vanishes', () => {
    const { clock, target, store, phase, vmi, events } = stuck();
    store.delete(RESOURCES.pod, target()!.metadata, { gracePeriodSeconds: 0 });
    clock.advance(1_000);
    expect(phase()).toBe('Failed');
    expect(events('FailedMigration')).toEqual(['Migration target pod was removed during active migration.']);
    expect(vmi('web')?.status?.phase).toBe('Running');
  });

  test('is removed when the migration is canceled', () => {
    const { clock, target, store, migration, vmi } = stuck();
    const seen: (string | undefined)[][] = [];
    store.subscribe(RESOURCES.migration, ({ object }) => {
      const { status } = object as Migration;
      seen.push([status?.phase, findCondition(status?.conditions, 'migrationAbortRequested')?.status]);
    });
    store.delete(RESOURCES.migration, { namespace: 'tailvm', name: 'migrate-web' });
    clock.advance(1_000);
    expect(seen).toContainEqual(['Failed', 'True']);
    expect([target(), migration()]).toEqual([undefined, undefined]);
    expect(vmi('web')?.status?.phase).toBe('Running');
  });

  test.each<[string, (node: Node) => void, string]>([
    ['a cordoned node', (node) => void (node.spec = { unschedulable: true }), '1 node(s) were unschedulable'],
    ['a node without the CPU model', without(MODEL), "2 node(s) didn't match Pod's node affinity/selector"],
    [
      'a node of the other vendor',
      ({ metadata }) => {
        delete metadata.labels!['cpu-vendor.node.kubevirt.io/Intel'];
        metadata.labels!['cpu-vendor.node.kubevirt.io/AMD'] = 'true';
      },
      "2 node(s) didn't match Pod's node affinity/selector",
    ],
  ])('counts %s', (_what, edit, reason) => {
    const { change, other, migrate, target, phase } = given();
    change(other(), edit);
    migrate();
    expect(phase()).toBe('Scheduling');
    expect(findCondition(target()?.status?.conditions, 'PodScheduled')?.message).toContain(reason);
  });
});

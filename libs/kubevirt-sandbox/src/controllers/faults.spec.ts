import { FAULT_ANNOTATION, type Fault } from '../faults.js';
import { RESOURCES } from '../resources.js';
import { buildVirtualMachine, simulatedCluster, type SimulatedCluster } from '../testing/simulated-cluster.js';
import { findCondition } from '../types/condition.js';
import type { Pod } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { Migration, VmSnapshot } from '../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

const WEB = { namespace: 'tailvm', name: 'web' };

/** A VM whose disk is imported first. */
function anImportingMachine(): VirtualMachine {
  const storage = { resources: { requests: { storage: '5Gi' } } };
  const machine = buildVirtualMachine('web', {
    dataVolumeTemplates: [
      {
        metadata: { name: 'web-root' },
        spec: { source: { http: { url: 'https://images.example/f.qcow2' } }, storage },
      },
    ],
  });
  machine.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'web-root' } }];
  return machine;
}

const buildMigration = (): Migration => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name: 'move', namespace: 'tailvm' },
  spec: { vmiName: 'web' },
});

/** The ways to set and clear a fault of a VM. */
const WAYS: [string, (cluster: SimulatedCluster, fault: Fault, on: boolean) => void][] = [
  ['through the simulation', ({ simulation }, fault, on) => simulation.faults[on ? 'inject' : 'clear'](fault, WEB)],
  [
    'with an annotation of the VM',
    ({ store }, fault, on) =>
      void store.patch(RESOURCES.vm, WEB, ({ metadata }) => {
        metadata.annotations = on ? { [FAULT_ANNOTATION]: `crash-looping, ${fault}` } : {};
      }),
  ],
  [
    'with an annotation of its template',
    ({ store }, fault, on) =>
      void store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => {
        spec.template.metadata = { annotations: on ? { [FAULT_ANNOTATION]: fault } : {} };
      }),
  ],
];

describe.each(WAYS)('a fault that is set on a VM %s', (_way, set) => {
  let cluster: SimulatedCluster;

  beforeEach(() => {
    cluster = simulatedCluster();
  });

  const status = () => cluster.vm('web')?.status?.printableStatus;
  const agent = () => findCondition(cluster.vmi('web')?.status?.conditions, 'AgentConnected')?.status;

  function given(machine = buildVirtualMachine('web')): void {
    cluster.create(machine);
    cluster.clock.advance(0);
  }

  function givenRunning(): void {
    given();
    cluster.clock.advance(30_000);
    expect(status()).toBe('Running');
  }

  test('import-unreachable: its import keeps retrying, and succeeds once the fault is cleared', () => {
    given(anImportingMachine());
    set(cluster, 'import-unreachable', true);
    cluster.clock.advance(30_000);
    const dataVolume = () => cluster.find<DataVolume>(RESOURCES.dataVolume, 'web-root')?.status;
    expect(dataVolume()?.restartCount).toBeGreaterThan(0);
    expect(dataVolume()?.phase).toBe('ImportInProgress');
    expect(cluster.eventReasons('DataVolume', 'web-root')).toContain('ImportFailed');
    set(cluster, 'import-unreachable', false);
    cluster.clock.advance(60_000);
    expect(dataVolume()?.phase).toBe('Succeeded');
    expect(status()).toBe('Running');
  });

  test('import-fatal: its import fails permanently', () => {
    given(anImportingMachine());
    set(cluster, 'import-fatal', true);
    cluster.clock.advance(30_000);
    expect(cluster.find<DataVolume>(RESOURCES.dataVolume, 'web-root')?.status?.phase).toBe('Failed');
    expect(status()).toBe('DataVolumeError');
    set(cluster, 'import-fatal', false);
    cluster.clock.advance(60_000);
    expect(status()).toBe('DataVolumeError');
  });

  test('image-pull: it alternates between ErrImagePull and ImagePullBackOff, and starts once the fault is cleared', () => {
    given();
    set(cluster, 'image-pull', true);
    const seen = new Set<string | undefined>();
    for (let second = 0; second < 40; second++) {
      cluster.clock.advance(1_000);
      seen.add(status());
    }
    expect([...seen]).toEqual(['Starting', 'ErrImagePull', 'ImagePullBackOff']);
    set(cluster, 'image-pull', false);
    cluster.clock.advance(20_000);
    expect(status()).toBe('Running');
  });

  test('unschedulable: no node fits until the fault is cleared', () => {
    given();
    set(cluster, 'unschedulable', true);
    cluster.clock.advance(10_000);
    expect(status()).toBe('ErrorUnschedulable');
    set(cluster, 'unschedulable', false);
    cluster.clock.advance(10_000);
    expect(status()).toBe('Running');
  });

  test('crash-loop: its guest dies before it runs until the fault is cleared', () => {
    given();
    set(cluster, 'crash-loop', true);
    cluster.clock.advance(9_000);
    expect(status()).toBe('CrashLoopBackOff');
    set(cluster, 'crash-loop', false);
    cluster.clock.advance(60_000);
    expect(status()).toBe('Running');
  });

  test('agent-gone: its agent is disconnected, and connects again once the fault is cleared', () => {
    givenRunning();
    expect(agent()).toBe('True');
    set(cluster, 'agent-gone', true);
    cluster.clock.advance(1_000);
    expect(agent()).toBeUndefined();
    expect(cluster.vmi('web')?.status?.interfaces?.[0]?.infoSource).toBe('domain');
    cluster.clock.advance(60_000);
    expect(agent()).toBeUndefined();
    set(cluster, 'agent-gone', false);
    cluster.clock.advance(20_000);
    expect(agent()).toBe('True');
    expect(cluster.vmi('web')?.status?.interfaces?.[0]?.infoSource).toBe('domain, guest-agent');
  });

  test('ignores-power-button: it is killed only after its whole grace period', () => {
    givenRunning();
    set(cluster, 'ignores-power-button', true);
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, WEB, ({ spec }) => void (spec.runStrategy = 'Halted'));
    const graceMs = 1_000 * cluster.vmi('web')!.spec.terminationGracePeriodSeconds!;
    cluster.clock.advance(graceMs - 1_000);
    expect(status()).toBe('Stopping');
    cluster.clock.advance(5_000);
    expect(status()).toBe('Stopped');
    expect(cluster.store.list<Pod>(RESOURCES.pod, { namespace: 'tailvm' })).toEqual([]);
  });

  test('migration-stuck: its migration keeps copying until the fault is cleared, and then succeeds', () => {
    givenRunning();
    set(cluster, 'migration-stuck', true);
    cluster.create(buildMigration());
    const phase = () => cluster.find<Migration>(RESOURCES.migration, 'move')?.status?.phase;
    cluster.clock.advance(600_000);
    expect(phase()).toBe('Running');
    set(cluster, 'migration-stuck', false);
    cluster.clock.advance(30_000);
    expect(phase()).toBe('Succeeded');
  });

  test('migration-failure: its migration fails, and it keeps running', () => {
    givenRunning();
    const node = cluster.vmi('web')?.status?.nodeName;
    set(cluster, 'migration-failure', true);
    cluster.create(buildMigration());
    cluster.clock.advance(60_000);
    expect(cluster.find<Migration>(RESOURCES.migration, 'move')?.status?.phase).toBe('Failed');
    expect(cluster.vmi('web')?.status).toMatchObject({ phase: 'Running', nodeName: node });
  });

  test('snapshot-failure: its snapshot fails, and the VM is unlocked', () => {
    given(anImportingMachine());
    cluster.clock.advance(60_000);
    set(cluster, 'snapshot-failure', true);
    cluster.create<VmSnapshot>({
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineSnapshot',
      metadata: { name: 's1', namespace: 'tailvm' },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'web' } },
    });
    cluster.clock.advance(10_000);
    const snapshot = cluster.find<VmSnapshot>(RESOURCES.snapshot, 's1')?.status;
    expect(snapshot).toMatchObject({ phase: 'Failed', readyToUse: false });
    expect(findCondition(snapshot?.conditions, 'Failure')?.status).toBe('True');
    expect(cluster.vm('web')?.status?.snapshotInProgress).toBeUndefined();
  });

  test('does not affect other VMs', () => {
    given();
    cluster.create(buildVirtualMachine('web-2'));
    set(cluster, 'crash-loop', true);
    cluster.clock.advance(30_000);
    expect(cluster.vm('web-2')?.status?.printableStatus).toBe('Running');
  });
});

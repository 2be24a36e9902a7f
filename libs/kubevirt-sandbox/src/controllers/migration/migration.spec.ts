import { FAULT_ANNOTATION } from '../../faults.js';
import { RESOURCES } from '../../resources.js';
import { findCondition } from '../../types/condition.js';
import type { Pod } from '../../types/core-kinds.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import { buildVirtualMachine, simulatedCluster, type SimulatedCluster } from '../../testing/simulated-cluster.js';

const buildMigration = (vmiName: string, addedNodeSelector?: Record<string, string>): Migration => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name: `migrate-${vmiName}`, namespace: 'tailvm' },
  spec: { vmiName, ...(addedNodeSelector ? { addedNodeSelector } : {}) },
});

function runningVm(options: Parameters<typeof simulatedCluster>[0] = {}): SimulatedCluster {
  const cluster = simulatedCluster(options);
  cluster.create(buildVirtualMachine('web'));
  cluster.clock.advance(30_000);
  return cluster;
}

describe('live migration', () => {
  test('moves the VMI and its pod to another node with the same CPU vendor', () => {
    const { clock, create, vmi, vm, find, store } = runningVm();
    const before = vmi('web')!;
    create(buildMigration('web'));
    clock.advance(8_000);
    expect(vm('web')?.status?.printableStatus).toBe('Migrating');
    clock.advance(60_000);
    const after = vmi('web')!;
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect([before.status?.nodeName, after.status?.nodeName].sort()).toEqual(['node-a', 'node-b']);
    expect(store.ownedBy<Pod>(RESOURCES.pod, after.metadata.uid!)).toHaveLength(1);
    expect(find<Migration>(RESOURCES.migration, 'migrate-web')?.status).toMatchObject({
      phase: 'Succeeded',
      migrationState: { completed: true, sourceNode: before.status?.nodeName, targetNode: after.status?.nodeName },
    });
    expect(vm('web')?.status?.printableStatus).toBe('Running');
  });

  test("goes through KubeVirt's phases in order", () => {
    const { clock, create, find } = runningVm();
    create(buildMigration('web'));
    clock.advance(60_000);
    const phases = find<Migration>(RESOURCES.migration, 'migrate-web')?.status?.phaseTransitionTimestamps;
    expect(phases?.map(({ phase }) => phase)).toEqual([
      'Pending',
      'Scheduling',
      'Scheduled',
      'PreparingTarget',
      'TargetReady',
      'Running',
      'Succeeded',
    ]);
  });

  test('is refused for a missing VMI and for one that is already migrating', () => {
    const { create } = runningVm();
    expect(() => create(buildMigration('missing'))).toThrow(
      'admission webhook "migration-create-validator.kubevirt.io" denied the request: the VMI "tailvm/missing" does not exist',
    );
    create(buildMigration('web'));
    const second = buildMigration('web');
    second.metadata.name = 'again';
    expect(() => create(second)).toThrow('in-flight migration detected');
  });

  test('is refused when a disk is not shared', () => {
    const { clock, create, vmi } = simulatedCluster();
    const machine = buildVirtualMachine('db', {
      dataVolumeTemplates: [
        {
          metadata: { name: 'db-root' },
          spec: {
            source: { blank: {} },
            storage: { storageClassName: 'local-path', resources: { requests: { storage: '1Gi' } } },
          },
        },
      ],
    });
    machine.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'db-root' } }];
    create(machine);
    clock.advance(60_000);
    expect(findCondition(vmi('db')?.status?.conditions, 'LiveMigratable')).toMatchObject({
      status: 'False',
      reason: 'DisksNotLiveMigratable',
    });
    expect(() => create(buildMigration('db'))).toThrow('Cannot migrate VMI, Reason: DisksNotLiveMigratable, Message:');
  });

  test('fails as injected, and the guest stays on its node', () => {
    const { clock, create, vmi, find, simulation } = runningVm();
    const node = vmi('web')?.status?.nodeName;
    simulation.faults.inject('migration-failure', { namespace: 'tailvm', name: 'web' });
    create(buildMigration('web'));
    clock.advance(60_000);
    expect(find<Migration>(RESOURCES.migration, 'migrate-web')?.status).toMatchObject({ phase: 'Failed' });
    expect(vmi('web')?.status).toMatchObject({ phase: 'Running', nodeName: node });
  });

  test('a VM with a crash-loop fault in its template has the status CrashLoopBackOff', () => {
    const { clock, create, vm } = simulatedCluster();
    const machine = buildVirtualMachine('bad');
    machine.spec.template.metadata = { annotations: { [FAULT_ANNOTATION]: 'crash-loop' } };
    create(machine);
    clock.advance(9_000);
    expect(vm('bad')?.status?.printableStatus).toBe('CrashLoopBackOff');
    expect(vm('bad')?.status?.startFailure?.consecutiveFailCount).toBe(1);
    clock.advance(60_000);
    expect(vm('bad')?.status?.startFailure?.consecutiveFailCount).toBeGreaterThan(1);
  });
});

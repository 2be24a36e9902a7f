import { RESOURCES } from '../../resources.js';
import type { VmClone, VmRestore, VmSnapshot } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { simulatedCluster, type SimulatedCluster } from '../../testing/simulated-cluster.js';

const SOURCE = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'web' };

const buildSnapshot = (name = 's1'): VmSnapshot => ({
  apiVersion: 'snapshot.kubevirt.io/v1beta1',
  kind: 'VirtualMachineSnapshot',
  metadata: { name, namespace: 'tailvm' },
  spec: { source: SOURCE },
});

const buildRestore = (spec: Partial<VmRestore['spec']> = {}): VmRestore => ({
  apiVersion: 'snapshot.kubevirt.io/v1beta1',
  kind: 'VirtualMachineRestore',
  metadata: { name: 'r1', namespace: 'tailvm' },
  spec: { target: SOURCE, virtualMachineSnapshotName: 's1', ...spec },
});

const buildClone = (): VmClone => ({
  apiVersion: 'clone.kubevirt.io/v1beta1',
  kind: 'VirtualMachineClone',
  metadata: { name: 'c1', namespace: 'tailvm' },
  spec: { source: SOURCE, target: { ...SOURCE, name: 'web-copy' }, labelFilters: ['*', '!team.example/*'] },
});

function withVm(status: 'Running' | 'Stopped', options: Parameters<typeof simulatedCluster>[0] = {}): SimulatedCluster {
  const cluster = simulatedCluster(options);
  cluster.simulation.seedVm({ name: 'web', status, labels: { app: 'shop', 'team.example/stage': 'prod' } });
  cluster.clock.advance(1000);
  return cluster;
}

describe('snapshots, restores and clones', () => {
  test('a snapshot locks the VM, reports how it was taken and unlocks the VM', () => {
    const { clock, create, vm, find } = withVm('Running');
    create(buildSnapshot());
    clock.advance(100);
    expect(vm('web')?.status?.snapshotInProgress).toBe('s1');
    clock.advance(10_000);
    expect(find<VmSnapshot>(RESOURCES.snapshot, 's1')?.status).toMatchObject({
      phase: 'Succeeded',
      readyToUse: true,
      indications: ['Online', 'GuestAgent'],
      snapshotVolumes: { includedVolumes: ['root'] },
    });
    expect(vm('web')?.status?.snapshotInProgress).toBeUndefined();
    expect(vm('web')?.metadata.finalizers).toEqual(['kubevirt.io/virtualMachineControllerFinalize']);
  });

  test('deleting a snapshot deletes its content and its volume snapshots', () => {
    const { clock, create, store } = withVm('Stopped');
    create(buildSnapshot());
    clock.advance(10_000);
    expect(store.count(RESOURCES.volumeSnapshot)).toBe(1);
    store.delete(RESOURCES.snapshot, { namespace: 'tailvm', name: 's1' });
    clock.advance(10_000);
    for (const resource of [
      RESOURCES.snapshot,
      RESOURCES.snapshotContent,
      RESOURCES.volumeSnapshot,
      RESOURCES.volumeSnapshotContent,
    ]) {
      expect(store.count(resource)).toBe(0);
    }
  });

  test('a restore stops its target on request, replaces the disk and leaves the VM stopped', () => {
    const { clock, create, vm, vmi, find, store } = withVm('Running');
    create(buildSnapshot());
    clock.advance(10_000);
    create(buildRestore({ targetReadinessPolicy: 'StopTarget' }));
    clock.advance(60_000);
    const restored = find<VmRestore>(RESOURCES.restore, 'r1');
    expect(restored?.status).toMatchObject({ complete: true, deletedDataVolumes: ['web-root'] });
    expect(vmi('web')).toBeUndefined();
    expect(vm('web')?.status?.printableStatus).toBe('Stopped');
    const name = `restore-${restored?.metadata.uid}-root`;
    expect(vm('web')?.spec.template.spec.volumes?.[0]?.dataVolume?.name).toBe(name);
    expect(store.list(RESOURCES.claim).map(({ metadata }) => metadata.name)).toEqual([name]);
  });

  test('a restore waits for its target to be powered off', () => {
    const { clock, create, find } = withVm('Running');
    create(buildSnapshot());
    clock.advance(10_000);
    create(buildRestore());
    clock.advance(1_000);
    const { status } = find<VmRestore>(RESOURCES.restore, 'r1')!;
    expect(status?.conditions?.[0]?.reason).toMatch(/^Waiting for target VM to be powered off\./);
    clock.advance(400_000);
    expect(find<VmRestore>(RESOURCES.restore, 'r1')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Failure' }),
    );
  });

  test('before 1.5 a running target is refused immediately', () => {
    const { clock, create } = withVm('Running', { kubevirtVersion: '1.4' });
    create(buildSnapshot());
    clock.advance(10_000);
    expect(() => create(buildRestore())).toThrow('VirtualMachine "web" is not stopped');
  });

  test('a clone is a separate, halted machine, and its temporary objects are deleted', () => {
    const { clock, create, vm, find, store } = withVm('Stopped');
    create(buildClone());
    clock.advance(60_000);
    expect(find<VmClone>(RESOURCES.clone, 'c1')?.status).toMatchObject({ phase: 'Succeeded', targetName: 'web-copy' });
    const [source, copy] = [vm('web')!, vm('web-copy')!];
    expect(copy.spec.runStrategy).toBe('Halted');
    expect(copy.metadata.labels).toEqual({ app: 'shop' });
    expect(copy.spec.template.spec.domain.firmware?.uuid).not.toBe(source.spec.template.spec.domain.firmware?.uuid);
    expect(store.count(RESOURCES.snapshot) + store.count(RESOURCES.restore)).toBe(0);
    store.patch<VirtualMachine>(RESOURCES.vm, copy.metadata, ({ spec }) => void (spec.runStrategy = 'Always'));
    clock.advance(30_000);
    expect(vm('web-copy')?.status?.printableStatus).toBe('Running');
    store.delete(RESOURCES.vm, { namespace: 'tailvm', name: 'web-copy' });
    clock.advance(60_000);
    expect(store.count(RESOURCES.clone)).toBe(0);
    expect(vm('web')).toBeDefined();
  });

  test('without the feature gate snapshots are refused with 400', () => {
    const { create } = withVm('Stopped', { kubevirtVersion: '1.8', cluster: { featureGates: [] } });
    expect(() => create(buildSnapshot())).toThrow('snapshot feature gate not enabled');
  });
});

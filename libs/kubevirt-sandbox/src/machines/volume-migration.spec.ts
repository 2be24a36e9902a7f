import type { KubeObject } from '@headgate/kube-sandbox';
import type { SimulationOptions } from '../kubevirt-simulation.js';
import { RESOURCES } from '../resources.js';
import { buildVirtualMachine, simulatedCluster, type SimulatedCluster } from '../testing/simulated-cluster.js';
import { findCondition } from '../types/condition.js';
import type { DataVolume } from '../types/data-volume.js';
import type { Migration } from '../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

const DB = { namespace: 'tailvm', name: 'db' };
const AUTOMATIC = { workloadUpdateMethods: ['LiveMigrate'] };
const TWO_NODES = { nodes: [{ name: 'node-a' }, { name: 'node-b' }] };

let cluster: SimulatedCluster;

const blank = (name: string, storageClassName: string, size = '1Gi'): DataVolume =>
  ({
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { name, namespace: 'tailvm' },
    spec: { source: { blank: {} }, storage: { storageClassName, resources: { requests: { storage: size } } } },
  }) as DataVolume;

/** A running VM with a disk on storage that one node can use. */
function start(
  options: SimulationOptions['cluster'] = AUTOMATIC,
  kubevirtVersion: SimulationOptions['kubevirtVersion'] = '1.9',
): void {
  cluster = simulatedCluster({ kubevirtVersion, cluster: { ...TWO_NODES, ...options } });
  const { spec } = blank('db-root', 'topolvm');
  const machine = buildVirtualMachine('db', { dataVolumeTemplates: [{ metadata: { name: 'db-root' }, spec }] });
  machine.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'db-root' } }];
  cluster.create(machine);
  cluster.clock.advance(60_000);
}

/** Lets the VM use another DataVolume. */
function moveTo(name: string, strategy = 'Migration'): void {
  cluster.store.patch<VirtualMachine>(RESOURCES.vm, DB, ({ spec }) => {
    spec.updateVolumesStrategy = strategy;
    for (const template of spec.dataVolumeTemplates ?? []) template.metadata.name = name;
    for (const volume of spec.template.spec.volumes ?? []) volume.dataVolume = { ...volume.dataVolume, name };
  });
}

const vm = () => cluster.vm('db')!;
const vmi = () => cluster.vmi('db')!;
const vmCondition = (type: string) => findCondition(vm().status?.conditions, type);
const change = () => findCondition(vmi().status?.conditions, 'VolumesChange');
const claimOfGuest = () => vmi().spec.volumes?.[0]?.dataVolume?.name;
const migrations = () => cluster.store.list<Migration>(RESOURCES.migration, { namespace: 'tailvm' });
const settle = () => cluster.clock.advance(120_000);

describe('volume migration', () => {
  test('copies the disk by a migration of the workload updater, and reports the new claim', () => {
    start();
    const { uid } = vmi().metadata;
    const source = vmi().status?.nodeName;
    expect(findCondition(vmi().status?.conditions, 'LiveMigratable')?.status).toBe('False');
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    moveTo('db-fast');
    cluster.clock.advance(1);
    expect(change()).toMatchObject({ status: 'True', message: 'migrate volumes' });
    expect(vmCondition('VolumesChange')?.status).toBe('True');
    expect(findCondition(vmi().status?.conditions, 'LiveMigratable')?.status).toBe('True');
    const migrated = [
      {
        volumeName: 'root',
        sourcePVCInfo: { claimName: 'db-root', volumeMode: 'Block' },
        destinationPVCInfo: { claimName: 'db-fast', volumeMode: 'Block' },
      },
    ];
    expect(vmi().status?.migratedVolumes).toEqual(migrated);
    expect(vm().status?.volumeUpdateState).toEqual({ volumeMigrationState: { migratedVolumes: migrated } });
    expect(vmi().status?.volumeStatus?.[0]?.persistentVolumeClaimInfo?.claimName).toBe('db-root');
    expect(migrations().map(({ metadata }) => metadata.labels)).toEqual([
      expect.objectContaining({ 'kubevirt.io/volume-update-in-progress': 'db' }),
    ]);
    settle();
    expect(vmi().metadata.uid).toBe(uid);
    expect(vmi().status?.nodeName).not.toBe(source);
    expect(change()).toBeUndefined();
    expect(vmi().status?.migratedVolumes).toBeUndefined();
    expect(claimOfGuest()).toBe('db-fast');
    expect(vmi().status?.volumeStatus?.[0]?.persistentVolumeClaimInfo?.claimName).toBe('db-fast');
    expect(vmCondition('RestartRequired')).toBeUndefined();
    expect(findCondition(vmi().status?.conditions, 'LiveMigratable')?.status).toBe('True');
    expect(migrations()[0]?.status?.phase).toBe('Succeeded');
  });

  test('waits for a migration of a client without the method LiveMigrate', () => {
    start({});
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    moveTo('db-fast');
    settle();
    expect(change()?.status).toBe('True');
    expect(migrations()).toEqual([]);
    cluster.create({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { name: 'by-hand', namespace: 'tailvm' },
      spec: { vmiName: 'db' },
    } as Migration);
    settle();
    expect(change()).toBeUndefined();
    expect(claimOfGuest()).toBe('db-fast');
  });

  test('is canceled by the old volumes, and ends its migration', () => {
    start();
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    cluster.simulation.faults.inject('migration-stuck', DB);
    moveTo('db-fast');
    cluster.clock.advance(20_000);
    expect(migrations()[0]?.status?.phase).toBe('Running');
    moveTo('db-root');
    cluster.clock.advance(5_000);
    expect(change()).toMatchObject({ status: 'False', reason: 'VolumesChangeCancellation' });
    expect(claimOfGuest()).toBe('db-root');
    expect(vmi().status?.migratedVolumes).toBeUndefined();
    expect(vm().status?.volumeUpdateState).toEqual({});
    expect(migrations().filter(({ status }) => status?.phase !== 'Failed')).toEqual([]);
    expect(vmi().status?.phase).toBe('Running');
  });

  test('accepts no third volume while a migration is in progress', () => {
    start();
    for (const name of ['db-fast', 'db-other']) cluster.create(blank(name, 'ceph-block'));
    cluster.clock.advance(5_000);
    cluster.simulation.faults.inject('migration-stuck', DB);
    moveTo('db-fast');
    cluster.clock.advance(5_000);
    moveTo('db-other');
    cluster.clock.advance(1_000);
    expect(vmCondition('Failure')).toMatchObject({ status: 'True', reason: 'VolumesUpdateError' });
    expect(claimOfGuest()).toBe('db-fast');
  });

  test('repeats a failed migration until it is canceled', () => {
    start();
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    cluster.simulation.faults.inject('migration-failure', DB);
    moveTo('db-fast');
    cluster.clock.advance(120_000);
    expect(migrations().length).toBeGreaterThan(1);
    expect(change()?.status).toBe('True');
    cluster.simulation.faults.clear('migration-failure', DB);
    settle();
    expect(change()).toBeUndefined();
    expect(vmi().status?.volumeStatus?.[0]?.persistentVolumeClaimInfo?.claimName).toBe('db-fast');
  });

  test('requires a manual recovery when the guest ends, and starts again with the old volume', () => {
    start();
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    cluster.simulation.faults.inject('migration-stuck', DB);
    moveTo('db-fast');
    cluster.clock.advance(20_000);
    cluster.store.delete(RESOURCES.vmi, DB);
    settle();
    expect(cluster.vmi('db')).toBeUndefined();
    expect(vmCondition('ManualRecoveryRequired')?.status).toBe('True');
    moveTo('db-root');
    settle();
    expect(vmCondition('ManualRecoveryRequired')).toBeUndefined();
    expect(vmi().status?.phase).toBe('Running');
    expect(claimOfGuest()).toBe('db-root');
  });

  test('requires a restart for volumes that it can not copy', () => {
    start();
    cluster.create(blank('db-local', 'local-path'));
    cluster.clock.advance(5_000);
    moveTo('db-local');
    cluster.clock.advance(5_000);
    expect(vmCondition('RestartRequired')?.message).toBe(
      "invalid volumes to update with migration: DV storage class isn't a CSI or not using volume populators: [root]",
    );
    expect(claimOfGuest()).toBe('db-root');
    moveTo('db-root');
    cluster.clock.advance(5_000);
    expect(vmCondition('RestartRequired')).toBeUndefined();
  });

  test('reports a volume that does not exist, and continues once it does', () => {
    start();
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, DB, ({ spec }) => delete spec.dataVolumeTemplates);
    moveTo('db-fast');
    cluster.clock.advance(1_000);
    expect(change()).toMatchObject({ status: 'False' });
    expect(change()?.message).toMatch(/^One of the destination volumes doesn't exist/);
    cluster.create(blank('db-fast', 'ceph-block'));
    settle();
    expect(vmi().status?.volumeStatus?.[0]?.persistentVolumeClaimInfo?.claimName).toBe('db-fast');
  });

  test('replaces volumes at the next start without the strategy, and copies nothing', () => {
    start();
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    moveTo('db-fast', 'Replacement');
    settle();
    expect(vmCondition('RestartRequired')?.status).toBe('True');
    expect(claimOfGuest()).toBe('db-root');
    expect(migrations()).toEqual([]);
  });

  test('needs its feature gates before 1.5', () => {
    cluster = simulatedCluster({ kubevirtVersion: '1.3' });
    const create = () => cluster.create(buildVirtualMachine('web', { updateVolumesStrategy: 'Migration' }));
    expect(create).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(
          'VolumesUpdateStrategy feature gate is not enabled in kubevirt-config',
        ) as string,
      }) as Error,
    );
  });

  test('makes the VM the owner of the volume that its template names', () => {
    start();
    cluster.create(blank('db-fast', 'ceph-block'));
    cluster.clock.advance(5_000);
    moveTo('db-fast');
    settle();
    const owners = cluster.find<KubeObject>(RESOURCES.dataVolume, 'db-fast')?.metadata.ownerReferences;
    expect(owners).toEqual([expect.objectContaining({ kind: 'VirtualMachine', uid: vm().metadata.uid })]);
  });
});

import { RESOURCES } from '../resources.js';
import { LOCAL_CLASS, SHARED_CLASS } from '../seeds/seed-cluster.js';
import { buildVirtualMachine, simulatedCluster } from '../testing/simulated-cluster.js';
import { findCondition } from '../types/condition.js';
import type { Node, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { KubeVirt, Migration, VmSnapshot, VolumeSnapshot } from '../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

const NAMESPACE = 'tailvm';
const SMALL_NODE = { name: 'node-a', memory: '6Gi' };

const claim = (name: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: NAMESPACE },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: SHARED_CLASS, resources: { requests: { storage: '1Gi' } } },
});

const volumeSnapshot = (name: string, persistentVolumeClaimName: string): VolumeSnapshot => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshot',
  metadata: { name, namespace: NAMESPACE },
  spec: { volumeSnapshotClassName: 'ceph-block-snapshots', source: { persistentVolumeClaimName } },
});

const vmSnapshot = (name: string): VmSnapshot => ({
  apiVersion: 'snapshot.kubevirt.io/v1beta1',
  kind: 'VirtualMachineSnapshot',
  metadata: { name, namespace: NAMESPACE },
  spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'web' } },
});

const dataVolume = (name: string, source: DataVolume['spec']['source']): DataVolume => ({
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataVolume',
  metadata: { name, namespace: NAMESPACE },
  spec: { source, storage: { storageClassName: SHARED_CLASS, resources: { requests: { storage: '1Gi' } } } },
});

const withLocalDisk = (name: string): VirtualMachine => {
  const vm = buildVirtualMachine(name, {
    dataVolumeTemplates: [
      {
        metadata: { name: `${name}-disk` },
        spec: {
          source: { blank: {} },
          storage: { storageClassName: LOCAL_CLASS, resources: { requests: { storage: '1Gi' } } },
        },
      },
    ],
  });
  vm.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: `${name}-disk` } }];
  return vm;
};

const drainNode = (cluster: ReturnType<typeof simulatedCluster>, unschedulable: boolean): void => {
  for (const { metadata } of cluster.store.list<Node>(RESOURCES.node)) {
    cluster.store.patch<Node>(RESOURCES.node, metadata, (node) => {
      node.spec = { ...node.spec, unschedulable };
    });
  }
};

describe('an object that waits continues as soon as it can', () => {
  test('a pod, when another pod on the full node ends', () => {
    const cluster = simulatedCluster({ cluster: { nodes: [SMALL_NODE] } });
    cluster.create(buildVirtualMachine('first', { runStrategy: 'Once' }));
    cluster.clock.advance(30_000);
    cluster.create(buildVirtualMachine('second'));
    cluster.clock.advance(30_000);
    expect(cluster.vm('second')?.status?.printableStatus).toBe('ErrorUnschedulable');
    cluster.simulation.guestOf(NAMESPACE, 'first').typeOnSerial('root\r\rpoweroff\r');
    cluster.clock.advance(30_000);
    // The completed pod remains.
    expect(cluster.vmi('first')?.status?.phase).toBe('Succeeded');
    expect(cluster.store.ownedBy<Pod>(RESOURCES.pod, cluster.vmi('first')!.metadata.uid!)).toHaveLength(1);
    expect(cluster.vm('second')?.status?.printableStatus).toBe('Running');
  });

  test('a VMI whose disk waits for its first consumer, when a node becomes schedulable', () => {
    const cluster = simulatedCluster();
    drainNode(cluster, true);
    cluster.create(withLocalDisk('web'));
    cluster.clock.advance(60_000);
    expect(cluster.vm('web')?.status?.printableStatus).not.toBe('Running');
    drainNode(cluster, false);
    cluster.clock.advance(60_000);
    expect(cluster.vm('web')?.status?.printableStatus).toBe('Running');
  });

  test('a DataVolume, when its source snapshot is created', () => {
    const cluster = simulatedCluster();
    cluster.create(claim('origin'));
    cluster.create(dataVolume('copy', { snapshot: { namespace: NAMESPACE, name: 'later' } }));
    cluster.clock.advance(60_000);
    cluster.create(volumeSnapshot('later', 'origin'));
    cluster.clock.advance(60_000);
    expect(cluster.find<DataVolume>(RESOURCES.dataVolume, 'copy')?.status?.phase).toBe('Succeeded');
  });

  test('a DataVolume, when the claim that had its name is deleted', () => {
    const cluster = simulatedCluster();
    cluster.create(claim('disk'));
    cluster.clock.advance(5_000);
    cluster.store.create(RESOURCES.dataVolume, dataVolume('disk', { blank: {} }));
    cluster.clock.advance(5_000);
    cluster.store.delete(RESOURCES.claim, { namespace: NAMESPACE, name: 'disk' });
    cluster.clock.advance(60_000);
    expect(cluster.find<DataVolume>(RESOURCES.dataVolume, 'disk')?.status?.phase).toBe('Succeeded');
  });

  test('a VM snapshot, when the snapshot before it is complete', () => {
    const cluster = simulatedCluster();
    cluster.simulation.seedVm({ name: 'web' });
    cluster.create(vmSnapshot('one'));
    cluster.create(vmSnapshot('two'));
    cluster.clock.advance(60_000);
    for (const name of ['one', 'two']) {
      expect(cluster.find<VmSnapshot>(RESOURCES.snapshot, name)?.status?.phase).toBe('Succeeded');
    }
  });

  test('a volume snapshot, when its claim is created', () => {
    const cluster = simulatedCluster();
    cluster.create(volumeSnapshot('early', 'origin'));
    cluster.clock.advance(10_000);
    cluster.create(claim('origin'));
    cluster.clock.advance(10_000);
    expect(cluster.find<VolumeSnapshot>(RESOURCES.volumeSnapshot, 'early')?.status?.readyToUse).toBe(true);
  });

  test('a migration whose target pod is deleted fails, in every phase', () => {
    for (const phase of ['Scheduling', 'Scheduled', 'PreparingTarget', 'TargetReady', 'Running']) {
      const cluster = simulatedCluster();
      cluster.simulation.seedVm({ name: 'web' });
      cluster.clock.advance(1_000);
      const { metadata } = cluster.create<Migration>({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstanceMigration',
        metadata: { name: 'move', namespace: NAMESPACE },
        spec: { vmiName: 'web' },
      });
      const migration = () => cluster.find<Migration>(RESOURCES.migration, 'move');
      const stop = cluster.store.subscribe(RESOURCES.migration, ({ object }) => {
        if ((object as Migration).status?.phase !== phase) return;
        stop();
        const [target] = cluster.store.list<Pod>(RESOURCES.pod, {
          where: ({ metadata: { labels } }) => labels?.['kubevirt.io/migrationJobUID'] === metadata.uid,
        });
        cluster.store.delete(RESOURCES.pod, target!.metadata, { gracePeriodSeconds: 0 });
      });
      cluster.clock.advance(60_000);
      expect([phase, migration()?.status?.phase]).toEqual([phase, 'Failed']);
      expect(cluster.vmi('web')?.status?.phase).toBe('Running');
    }
  });

  test('a hotplugged CPU, when the cluster allows migrations for workload updates', () => {
    const cluster = simulatedCluster({ cluster: { workloadUpdateMethods: [] } });
    cluster.create(buildVirtualMachine('web'));
    cluster.clock.advance(30_000);
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, { namespace: NAMESPACE, name: 'web' }, ({ spec }) => {
      spec.template.spec.domain.cpu!.sockets = 4;
    });
    cluster.clock.advance(60_000);
    expect(findCondition(cluster.vmi('web')?.status?.conditions, 'HotVCPUChange')?.status).toBe('True');
    cluster.store.patch<KubeVirt>(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' }, ({ spec }) => {
      spec.workloadUpdateStrategy = { workloadUpdateMethods: ['LiveMigrate'] };
    });
    cluster.clock.advance(60_000);
    expect(findCondition(cluster.vmi('web')?.status?.conditions, 'HotVCPUChange')).toBeUndefined();
    expect(cluster.vmi('web')?.status?.currentCPUTopology?.sockets).toBe(4);
  });
});

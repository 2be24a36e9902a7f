import type { KubeObject } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { LOCAL_CLASS, LOCAL_CSI_CLASS, SHARED_CLASS } from '../../seeds/seed-cluster.js';
import { buildVirtualMachine, simulatedCluster, type SimulatedCluster } from '../../testing/simulated-cluster.js';
import { findCondition } from '../../types/condition.js';
import type { PersistentVolumeClaim, Pod } from '../../types/core-kinds.js';
import type { ClaimRequest, DataVolume, DataVolumeSource } from '../../types/data-volume.js';

const NAMESPACE = 'tailvm';
const IMMEDIATE = { 'cdi.kubevirt.io/storage.bind.immediate.requested': '' };
const HTTP: DataVolumeSource = { http: { url: 'https://images.example/fedora.qcow2' } };

function buildDataVolume(
  storage: ClaimRequest,
  { source = HTTP, annotations }: { source?: DataVolumeSource; annotations?: Record<string, string> } = {},
): DataVolume {
  return {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { name: 'disk', namespace: NAMESPACE, ...(annotations ? { annotations } : {}) },
    spec: { source, storage: { resources: { requests: { storage: '2Gi' } }, ...storage } },
  };
}

const machineWithDisk = (storageClassName: string, runStrategy: 'Always' | 'Halted') => {
  const machine = buildVirtualMachine('web', {
    runStrategy,
    dataVolumeTemplates: [
      {
        metadata: { name: 'disk' },
        spec: { source: HTTP, storage: { storageClassName, resources: { requests: { storage: '2Gi' } } } },
      },
    ],
  });
  machine.spec.template.spec.volumes = [{ name: 'root', dataVolume: { name: 'disk' } }];
  return machine;
};

let cluster: SimulatedCluster;
const dataVolume = () => cluster.find<DataVolume>(RESOURCES.dataVolume, 'disk');
const claim = () => cluster.find<PersistentVolumeClaim>(RESOURCES.claim, 'disk');
const claims = () => cluster.store.list<PersistentVolumeClaim>(RESOURCES.claim, { namespace: NAMESPACE });
const workers = () =>
  cluster.store
    .list<Pod>(RESOURCES.pod, { namespace: NAMESPACE })
    .filter(({ metadata }) => metadata.labels?.['app'] === 'containerized-data-importer');
const sources = () => cluster.store.list<KubeObject>('volumeimportsources.cdi.kubevirt.io');
const condition = (type: string) => findCondition(dataVolume()?.status?.conditions, type);

/** Advances the clock and collects the states that a client of the DataVolume sees, as `phase/phase of the claim`. */
function statesWithin(ms: number): string[] {
  const states: string[] = [];
  for (let passed = 0; passed < ms; passed += 100) {
    cluster.clock.advance(100);
    const state = `${dataVolume()?.status?.phase ?? ''}/${claim()?.status?.phase ?? ''}`;
    if (states.at(-1) !== state) states.push(state);
  }
  return states;
}

describe('a DataVolume of a class with a CSI driver', () => {
  beforeEach(() => {
    cluster = simulatedCluster();
  });

  test('has a pending claim until its import is complete', () => {
    cluster.create(buildDataVolume({ storageClassName: SHARED_CLASS }));
    expect(statesWithin(20_000)).toEqual(['ImportScheduled/Pending', 'ImportInProgress/Pending', 'Succeeded/Bound']);
    expect(dataVolume()?.status).toMatchObject({ progress: '100.0%', claimName: 'disk' });
  });

  test('is filled through a second claim and an importer pod, which are removed afterwards', () => {
    cluster.create(buildDataVolume({ storageClassName: SHARED_CLASS }));
    cluster.clock.advance(4000);
    const { uid } = claim()!.metadata;
    const prime = cluster.find<PersistentVolumeClaim>(RESOURCES.claim, `prime-${uid}`)!;
    expect(prime).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'PersistentVolumeClaim', name: 'disk', uid }] },
      spec: { storageClassName: SHARED_CLASS, accessModes: claim()!.spec.accessModes },
      status: { phase: 'Bound' },
    });
    expect(workers()).toMatchObject([{ metadata: { name: `importer-prime-${uid}` }, status: { phase: 'Running' } }]);
    expect(sources()).toMatchObject([{ kind: 'VolumeImportSource', spec: { source: HTTP } }]);
    expect(claim()!.spec.dataSourceRef).toEqual({
      apiGroup: 'cdi.kubevirt.io',
      kind: 'VolumeImportSource',
      name: sources()[0]!.metadata.name,
    });
    const { volumeName } = prime.spec;

    cluster.clock.advance(20_000);
    expect(claims().map(({ metadata }) => metadata.name)).toEqual(['disk']);
    expect(claim()).toMatchObject({ spec: { volumeName }, status: { phase: 'Bound' } });
    expect(workers()).toEqual([]);
    expect(sources()).toEqual([]);
    expect(cluster.store.get(RESOURCES.volume, { name: volumeName! })).toMatchObject({
      spec: { claimRef: { name: 'disk', uid } },
    });
  });

  test('leaves nothing behind when it is deleted during its import', () => {
    cluster.create(buildDataVolume({ storageClassName: SHARED_CLASS }));
    cluster.clock.advance(4000);
    cluster.store.delete(RESOURCES.dataVolume, { namespace: NAMESPACE, name: 'disk' });
    cluster.clock.advance(60_000);
    expect([claims(), workers(), sources(), cluster.store.list(RESOURCES.volume)]).toEqual([[], [], [], []]);
  });

  test('keeps its claim pending while its image can not be reached', () => {
    cluster.create(
      buildDataVolume(
        { storageClassName: SHARED_CLASS },
        { source: { http: { url: 'https://does-not-exist.example/' } } },
      ),
    );
    cluster.clock.advance(40_000);
    expect(claim()?.status?.phase).toBe('Pending');
    expect(dataVolume()?.status).toMatchObject({ phase: 'ImportInProgress', restartCount: expect.any(Number) });
    expect(dataVolume()!.status!.restartCount).toBeGreaterThan(0);
    expect(condition('Bound')).toMatchObject({ status: 'False', reason: 'Pending', message: 'PVC disk Pending' });
  });

  test('uses no populator when its annotation says so', () => {
    const annotations = { 'cdi.kubevirt.io/storage.usePopulator': 'false' };
    cluster.create(buildDataVolume({ storageClassName: SHARED_CLASS }, { annotations }));
    cluster.clock.advance(2000);
    expect(claims()).toMatchObject([{ metadata: { name: 'disk' }, status: { phase: 'Bound' } }]);
    expect(workers()).toEqual([]);
  });

  test('copies another claim through a temporary one', () => {
    cluster.create(buildDataVolume({ storageClassName: SHARED_CLASS }));
    cluster.clock.advance(20_000);
    const copy = buildDataVolume(
      { storageClassName: SHARED_CLASS },
      { source: { pvc: { namespace: NAMESPACE, name: 'disk' } } },
    );
    copy.metadata.name = 'copy';
    cluster.create(copy);
    cluster.clock.advance(1500);
    const target = cluster.find<PersistentVolumeClaim>(RESOURCES.claim, 'copy')!;
    expect(target.status?.phase).toBe('Pending');
    expect(claims().map(({ metadata }) => metadata.name)).toContain(`tmp-pvc-${target.metadata.uid}`);
    cluster.clock.advance(20_000);
    expect(cluster.find<DataVolume>(RESOURCES.dataVolume, 'copy')?.status?.phase).toBe('Succeeded');
    expect(
      claims()
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['copy', 'disk']);
  });
});

describe('a class that waits for its first consumer', () => {
  beforeEach(() => {
    cluster = simulatedCluster();
  });

  test.each([
    [LOCAL_CSI_CLASS, 'PendingPopulation', 'Pending'],
    [LOCAL_CLASS, 'WaitForFirstConsumer', 'Bound'],
  ])('%s: the phase is %s until a VM starts', (storageClass, waiting, phaseDuringImport) => {
    cluster.create(machineWithDisk(storageClass, 'Halted'));
    cluster.clock.advance(60_000);
    expect(dataVolume()?.status?.phase).toBe(waiting);
    expect(workers()).toEqual([]);
    expect(cluster.vm('web')?.status?.printableStatus).toBe('Stopped');

    cluster.store.patch<NonNullable<ReturnType<typeof cluster.vm>>>(
      RESOURCES.vm,
      { namespace: NAMESPACE, name: 'web' },
      ({ spec }) => {
        spec.runStrategy = 'Always';
      },
    );
    expect(statesWithin(60_000)).toContain(`ImportInProgress/${phaseDuringImport}`);
    expect(dataVolume()?.status?.phase).toBe('Succeeded');
    expect(cluster.vm('web')?.status?.printableStatus).toBe('Running');
  });

  test.each([LOCAL_CSI_CLASS, LOCAL_CLASS])(
    '%s: an annotation makes the import begin immediately',
    (storageClassName) => {
      cluster.create(buildDataVolume({ storageClassName }, { annotations: IMMEDIATE }));
      cluster.clock.advance(20_000);
      expect(dataVolume()?.status?.phase).toBe('Succeeded');
      expect(claim()?.status?.phase).toBe('Bound');
    },
  );

  test('a class without a CSI driver binds its claim first', () => {
    cluster.create(buildDataVolume({ storageClassName: LOCAL_CLASS }, { annotations: IMMEDIATE }));
    expect(statesWithin(20_000)).toEqual([
      'Pending/Pending',
      'ImportScheduled/Bound',
      'ImportInProgress/Bound',
      'Succeeded/Bound',
    ]);
    expect(claims()).toHaveLength(1);
  });
});

describe('a DataVolume whose claim can not be created', () => {
  test('has no phase without a storage class, and begins when there is one', () => {
    cluster = simulatedCluster({ cluster: { defaultStorageClass: 'none' } });
    cluster.create(buildDataVolume({}));
    cluster.clock.advance(5000);
    const message = 'PVC spec is missing accessMode and no storageClass to choose profile';
    expect(dataVolume()?.status).not.toHaveProperty('phase');
    expect(condition('Bound')).toMatchObject({ status: 'Unknown', reason: 'ErrClaimNotValid', message });
    expect(condition('Running')).toMatchObject({ status: 'False', reason: 'ErrClaimNotValid', message });
    expect(claims()).toEqual([]);
    expect(cluster.eventReasons('DataVolume', 'disk')).toContain('ErrClaimNotValid');
  });

  test('reports an exceeded quota, and begins when the quota allows it', () => {
    cluster = simulatedCluster();
    const quota = (storage: string) => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'small', namespace: NAMESPACE },
      spec: { hard: { 'requests.storage': storage } },
    });
    cluster.store.create(RESOURCES.quota, quota('1Gi'));
    cluster.create(buildDataVolume({ storageClassName: SHARED_CLASS }));
    cluster.clock.advance(5000);
    expect(condition('Bound')).toMatchObject({
      status: 'Unknown',
      reason: 'ErrExceededQuota',
      message:
        'persistentvolumeclaims "disk" is forbidden: exceeded quota: small, requested: requests.storage=2Gi, used: requests.storage=0, limited: requests.storage=1Gi',
    });
    cluster.store.patch<ReturnType<typeof quota>>(RESOURCES.quota, { namespace: NAMESPACE, name: 'small' }, (draft) => {
      draft.spec.hard['requests.storage'] = '10Gi';
    });
    cluster.clock.advance(30_000);
    expect(dataVolume()?.status?.phase).toBe('Succeeded');
  });
});

test.each([
  ['1.5', 5.5],
  ['1.6', 6],
  ['1.9', 6],
] as const)('a file system of KubeVirt %s takes %s %% of its volume', (kubevirtVersion, percent) => {
  cluster = simulatedCluster({ kubevirtVersion });
  cluster.create(buildDataVolume({ storageClassName: LOCAL_CLASS }));
  cluster.clock.advance(1000);
  expect(Number(claim()?.spec.resources?.requests?.['storage'])).toBe(Math.ceil(2 ** 31 / (1 - percent / 100)));
});

import { ApiError, type StatusCause } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { simulatedCluster, type SimulatedCluster } from '../../testing/simulated-cluster.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmClone, VmRestore } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import type { KubevirtVersion } from '../../kubevirt-version.js';

const machine = (name: string) => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name });

/** A stopped VM `web` with one disk, and its snapshot `s1`. */
function withSnapshot(kubevirtVersion?: KubevirtVersion): SimulatedCluster {
  const cluster = simulatedCluster({ kubevirtVersion });
  cluster.simulation.seedVm({ name: 'web', status: 'Stopped', labels: { app: 'shop' } });
  cluster.create({
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineSnapshot',
    metadata: { name: 's1', namespace: 'tailvm' },
    spec: { source: machine('web') },
  } as never);
  cluster.clock.advance(30_000);
  return cluster;
}

function restore({ create, clock, find }: SimulatedCluster, spec: Partial<VmRestore['spec']> = {}): VmRestore {
  create<VmRestore>({
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineRestore',
    metadata: { name: 'r1', namespace: 'tailvm' },
    spec: { target: machine('web'), virtualMachineSnapshotName: 's1', ...spec },
  });
  clock.advance(60_000);
  return find<VmRestore>(RESOURCES.restore, 'r1')!;
}

function causesOf(action: () => unknown): StatusCause[] {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError) return error.status.details?.causes ?? [];
    throw error;
  }
  return [];
}

const claimsOf = ({ store }: SimulatedCluster): string[] =>
  store.list<PersistentVolumeClaim>(RESOURCES.claim).map(({ metadata }) => metadata.name);
const diskOf = ({ vm }: SimulatedCluster, name = 'web'): string | undefined =>
  vm(name)?.spec.template.spec.volumes?.[0]?.dataVolume?.name;

describe('the names of restored disks', () => {
  test.each([
    [undefined, 'restore-UID-root'],
    ['RandomizeNames', 'restore-UID-root'],
    ['PrefixTargetName', 'web-root'],
    ['InPlace', 'web-root'],
  ] as const)('with the policy %s', (volumeRestorePolicy, expected) => {
    const cluster = withSnapshot();
    const old = cluster.find(RESOURCES.claim, 'web-root')!.metadata.uid;
    const { status, metadata } = restore(cluster, volumeRestorePolicy ? { volumeRestorePolicy } : {});
    const name = expected.replace('UID', metadata.uid!);
    // The seeded disk has the name of the prefix, which is in use: as on a real cluster, that restore does not replace
    // it.
    expect(status?.restores?.[0]?.persistentVolumeClaim).toBe(name);
    if (volumeRestorePolicy === 'PrefixTargetName') return;
    expect(status?.complete).toBe(true);
    expect(diskOf(cluster)).toBe(name);
    expect(claimsOf(cluster)).toEqual([name]);
    expect(cluster.find(RESOURCES.claim, name)?.metadata.uid).not.toBe(old);
    expect(status?.deletedDataVolumes).toEqual(['web-root']);
  });

  test('a VM restored in place starts on its new disk', () => {
    const cluster = withSnapshot();
    restore(cluster, { volumeRestorePolicy: 'InPlace' });
    expect(cluster.vm('web')?.status?.restoreInProgress).toBeUndefined();
    cluster.store.patch<VirtualMachine>(RESOURCES.vm, { namespace: 'tailvm', name: 'web' }, ({ spec }) => {
      spec.runStrategy = 'Always';
    });
    cluster.clock.advance(60_000);
    expect(cluster.vm('web')?.status?.printableStatus).toBe('Running');
    expect(claimsOf(cluster)).toEqual(['web-root']);
  });

  test('an override gives a disk its name, labels and annotations', () => {
    const cluster = withSnapshot();
    const override = { volumeName: 'root', restoreName: 'mine', labels: { a: '1' }, annotations: { b: '2' } };
    expect(restore(cluster, { volumeRestoreOverrides: [override] }).status?.complete).toBe(true);
    expect(claimsOf(cluster)).toEqual(['mine']);
    expect(cluster.find(RESOURCES.claim, 'mine')?.metadata).toMatchObject({
      labels: { a: '1' },
      annotations: expect.objectContaining({ b: '2' }),
    });
  });

  test.each([
    ['Vm', 'web'],
    ['None', undefined],
  ] as const)('the owner of the disks with the policy %s', (volumeOwnershipPolicy, owner) => {
    const cluster = withSnapshot();
    restore(cluster, { volumeOwnershipPolicy });
    const [name] = claimsOf(cluster);
    expect(cluster.find(RESOURCES.claim, name!)?.metadata.ownerReferences?.[0]?.name).toBe(owner);
  });
});

test.each(['RandomizeNames', 'InPlace'] as const)(
  'a restore with %s that is deleted before its end releases its VM, which gets its disk back and starts',
  (volumeRestorePolicy) => {
    const cluster = withSnapshot();
    const { clock, create, store, vm } = cluster;
    create<VmRestore>({
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineRestore',
      metadata: { name: 'r1', namespace: 'tailvm' },
      spec: { target: machine('web'), virtualMachineSnapshotName: 's1', volumeRestorePolicy },
    });
    clock.advance(1_000);
    expect(vm('web')?.status?.restoreInProgress).toBe('r1');
    store.delete(RESOURCES.restore, { namespace: 'tailvm', name: 'r1' });
    clock.advance(1_000);
    expect(vm('web')?.status?.restoreInProgress).toBeUndefined();
    store.patch<VirtualMachine>(RESOURCES.vm, { namespace: 'tailvm', name: 'web' }, ({ spec }) => {
      spec.runStrategy = 'Always';
    });
    clock.advance(120_000);
    expect(vm('web')?.status?.printableStatus).toBe('Running');
  },
);

test('a restore in place to a new VM does not touch the disk of the VM that was saved, and fails', () => {
  const cluster = withSnapshot();
  const { uid } = cluster.find(RESOURCES.claim, 'web-root')!.metadata;
  const { status } = restore(cluster, { target: machine('copy'), volumeRestorePolicy: 'InPlace' });
  expect(cluster.find(RESOURCES.claim, 'web-root')?.metadata.uid).toBe(uid);
  expect(cluster.vm('copy')).toBeUndefined();
  expect(status?.conditions).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'Failure', reason: expect.stringContaining('web-root') })]),
  );
});

describe('refused restores', () => {
  const ONLY_SPEC = 'patching is valid only for elements under /spec/ only';
  test.each<[string, object, KubevirtVersion, string, string]>([
    [
      'an unknown policy',
      { volumeRestorePolicy: 'Twice' },
      '1.9',
      'spec.volumeRestorePolicy',
      `volume restore policy "Twice" doesn't exist`,
    ],
    [
      'a policy of a later release',
      { volumeRestorePolicy: 'PrefixTargetName' },
      '1.7',
      'spec.volumeRestorePolicy',
      `volume restore policy "PrefixTargetName" doesn't exist`,
    ],
    [
      'an unknown ownership',
      { volumeOwnershipPolicy: 'Me' },
      '1.9',
      'spec.volumeOwnershipPolicy',
      `volume ownership policy "Me" doesn't exist`,
    ],
    [
      'an override that changes nothing',
      { volumeRestoreOverrides: [{ volumeName: 'root' }] },
      '1.9',
      'spec.volumeRestoreOverrides[0]',
      'must provide at least one overriden field',
    ],
    [
      'a patch of the name',
      { patches: ['{"op":"replace","path":"/metadata/name","value":"x"}'] },
      '1.9',
      'spec.patches',
      ONLY_SPEC,
    ],
    ['a patch that is not JSON', { patches: ['{"path": "/spec/'] }, '1.9', 'spec.patches', ONLY_SPEC],
  ])('%s', (_case, spec, version, field, message) => {
    const cluster = withSnapshot(version);
    expect(causesOf(() => restore(cluster, spec))).toEqual([
      { reason: expect.stringMatching(/^FieldValue(Invalid|Required)$/), field, message },
    ]);
  });
});

describe('clones with patches and names', () => {
  const clone = ({ create, clock, find }: SimulatedCluster, spec: Partial<VmClone['spec']>): VmClone => {
    create<VmClone>({
      apiVersion: 'clone.kubevirt.io/v1beta1',
      kind: 'VirtualMachineClone',
      metadata: { name: 'c1', namespace: 'tailvm' },
      spec: { source: machine('web'), target: machine('copy'), ...spec },
    });
    clock.advance(120_000);
    return find<VmClone>(RESOURCES.clone, 'c1')!;
  };

  test('patches change the target and not the source', () => {
    const cluster = withSnapshot();
    const patches = [
      '{"op":"replace","path":"/spec/template/spec/domain/memory/guest","value":"8Gi"}',
      '{"op":"add","path":"/metadata/labels/copied","value":"yes"}',
    ];
    expect(clone(cluster, { patches }).status?.phase).toBe('Succeeded');
    expect(cluster.vm('copy')?.spec.template.spec.domain.memory?.guest).toBe('8Gi');
    expect(cluster.vm('copy')?.metadata.labels).toEqual({ app: 'shop', copied: 'yes' });
    expect(cluster.vm('web')?.spec.template.spec.domain.memory?.guest).toBe('4Gi');
    expect(cluster.vm('web')?.metadata.labels).toEqual({ app: 'shop' });
  });

  test('a patch of a field that does not exist fails the clone, and creates no VM', () => {
    const cluster = withSnapshot();
    const patches = ['{"op":"replace","path":"/spec/template/spec/volumes/7/name","value":"x"}'];
    expect(clone(cluster, { patches }).status?.phase).toBe('Failed');
    expect(cluster.vm('copy')).toBeUndefined();
  });

  test('the name of the target is the prefix of its disks', () => {
    const cluster = withSnapshot();
    expect(clone(cluster, { volumeNamePolicy: 'PrefixTargetName' }).status?.phase).toBe('Succeeded');
    expect(diskOf(cluster, 'copy')).toBe('copy-root');
    expect(claimsOf(cluster)).toEqual(['copy-root', 'web-root']);
  });

  test('refuses a patch that is no JSON, and no other', () => {
    const cluster = withSnapshot();
    expect(causesOf(() => clone(cluster, { patches: ['{"op"'] }))[0]).toMatchObject({
      field: 'spec.patches[0]',
      message: 'patch is not valid JSON ({"op")',
    });
    expect(() => clone(cluster, { patches: ['{"op":"replace","path":"/status","value":{}}'] })).not.toThrow();
  });
});

import type { BackupReading, BackupSource, InstanceRef, VmSource } from '@headgate/domain-contracts';
import { HurriedClock } from '../testing/faulty-cluster.contract.js';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';
import { consistencyOf } from './moment-snapshot.js';

const MIB = 1024 ** 2;
const never = new AbortController().signal;
const IMPORT: VmSource = { kind: 'import', url: 'https://images.example/fedora.qcow2' };
const SNAPSHOTS = 'virtualmachinesnapshots.snapshot.kubevirt.io';
const EXPORTS = 'virtualmachineexports.export.kubevirt.io';
const TWO_NODES = { nodes: [{ name: 'node-a' }, { name: 'node-b' }] };

describe('the backup of a VM of a cluster', () => {
  let harness: SandboxHarness;
  let source: BackupSource;

  const open = async (options: SandboxHarnessOptions = {}): Promise<void> => {
    harness = await SandboxHarness.open({
      simulation: { cluster: TWO_NODES },
      source: IMPORT,
      ...options,
      backend: { clock: new HurriedClock() },
    });
    source = harness.backend.require('backupSource');
  };
  beforeEach(() => open());
  afterEach(() => harness.close());

  const listed = (resource: string) => harness.sandbox.store.list(resource, { namespace: NAMESPACE });
  const names = (resource: string) => listed(resource).map(({ metadata }) => metadata.name);
  const everything = () => ({
    snapshots: names(SNAPSHOTS),
    exports: names(EXPORTS),
    secrets: names('secrets'),
    services: names('services'),
    claims: names('persistentvolumeclaims'),
    saved: names('volumesnapshots.snapshot.storage.k8s.io'),
  });
  /** Until the cluster has removed the deleted objects: KubeVirt has a finalizer on its snapshots. */
  const settled = async () => {
    while (harness.sandbox.store.list(SNAPSHOTS).some(({ metadata }) => metadata.deletionTimestamp !== undefined))
      await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    return everything();
  };
  const read = (vm: InstanceRef, series = 'daily', signal = never): Promise<BackupReading> =>
    source.open(vm, { series }, signal);
  const boot = ({ disks: [disk] }: BackupReading) => {
    if (!disk) throw new Error('The reading has no disk.');
    return disk;
  };
  const usersObjects = async (vm: InstanceRef): Promise<void> => {
    const { remaining } = await harness.backend.require('snapshots').create(vm, { name: 'before-the-update' });
    await remaining?.({ signal: never, step: () => undefined, progress: () => undefined, log: () => undefined });
    harness.sandbox.store.create(EXPORTS, {
      apiVersion: 'export.kubevirt.io/v1beta1',
      kind: 'VirtualMachineExport',
      metadata: { name: 'hg-backup-of-the-user', namespace: NAMESPACE, labels: { 'svc.dev/backup': 'a-copied-label' } },
      spec: { source: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: 'before-the-update' } },
    } as never);
    while (names('secrets').length === 0) await new Promise((resolve) => setImmediate(resolve));
  };

  test('has a snapshot and an export of its own with its ID, which end with it, and touches no others', async () => {
    const vm = await harness.givenVmWithDisk();
    await usersObjects(vm);
    const before = everything();
    const reading = await read(vm);
    const [, snapshot] = listed(SNAPSHOTS);
    const id = snapshot?.metadata.labels?.['svc.dev/backup'];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(snapshot).toMatchObject({
      metadata: { annotations: { 'svc.dev/backup-series': 'daily', 'svc.dev/backup-beat': '0' } },
      spec: { source: { kind: 'VirtualMachine', name: vm.name } },
    });
    const labeled = [...listed(EXPORTS), ...listed('secrets')].filter(
      ({ metadata }) => metadata.labels?.['svc.dev/backup'] === id,
    );
    expect(labeled.map(({ kind }) => kind)).toEqual(['VirtualMachineExport', 'Secret']);
    // The cluster removes it with the snapshot.
    expect(labeled[0]?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'VirtualMachineSnapshot', uid: snapshot?.metadata.uid }),
    ]);
    const ofUser = await harness.backend.require('snapshots').list(vm);
    expect(ofUser.map(({ name }) => name)).toEqual(['before-the-update']);
    await reading.close({ keep: true });
    expect(await settled()).toEqual(before);
    await expect(boot(reading).read(0, 512)).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });

  test('has a consistency that follows from what KubeVirt has found', async () => {
    const running = await harness.givenVm('Running');
    await harness.recorder.untilVm(running, ({ agentConnected }) => agentConnected);
    const frozen = await read(running);
    expect([frozen.consistency, frozen.warnings]).toEqual(['frozen', []]);
    await frozen.close({ keep: true });
    harness.simulation.faults.inject('agent-gone', running);
    await harness.recorder.untilVm(running, ({ agentConnected }) => !agentConnected);
    const crash = await read(running);
    expect(crash.consistency).toBe('crash');
    await crash.close({ keep: true });

    const of = (indications: string[], isRunning = true) =>
      consistencyOf({ metadata: {}, status: { indications } }, { isRunning });
    expect(of(['Online', 'GuestAgent', 'Paused']).consistency).toBe('crash');
    expect(of(['Online', 'GuestAgent', 'QuiesceTimeout'])).toMatchObject({
      consistency: 'crash',
      warnings: [expect.stringMatching(/did not freeze/)],
    });
    // It was started or stopped while the snapshot was created.
    expect(of(['Online', 'NoGuestAgent'], false).consistency).toBe('crash');
    expect(of([], true).consistency).toBe('crash');
    expect(of([], false).consistency).toBe('stopped');
    const sourceIndications = ['Online', 'GuestAgent'].map((indication) => ({ indication }));
    expect(consistencyOf({ metadata: {}, status: { sourceIndications } }, { isRunning: true }).consistency).toBe(
      'frozen',
    );
  });

  test('reads on when its VM is moved to another node, and when others delete the VM', async () => {
    const vm = await harness.givenVm('Running');
    await harness.writeAsGuest(vm, { offset: 5 * MIB, length: 512, byte: 7 });
    const reading = await read(vm);
    const { node } = await harness.recorder.untilVm(vm, ({ node }) => node !== undefined);
    const migration = harness.backend.require('migration');
    const follow = await migration.migrate(vm);
    await follow({ signal: never, step: () => undefined, progress: () => undefined, log: () => undefined });
    await harness.recorder.untilVm(vm, (one) => one.node !== node);
    expect([...new Set(await boot(reading).read(5 * MIB, 512))]).toEqual([7]);
    await harness.deleteExternally(vm);
    await harness.recorder.until(() => harness.recorder.vm(vm) === undefined);
    expect([...new Set(await boot(reading).read(5 * MIB, 512))]).toEqual([7]);
    await reading.close({ keep: true });
    expect(await settled()).toMatchObject({ snapshots: [], exports: [] });
  });

  test('goes on with another export of its snapshot when one has expired, and fails without the snapshot', async () => {
    const vm = await harness.givenVm('Running');
    await harness.writeAsGuest(vm, { offset: 6 * MIB, length: 512, byte: 3 });
    const reading = await read(vm);
    const [first] = names(EXPORTS);
    await harness.writeAsGuest(vm, { offset: 6 * MIB, length: 512, byte: 9 });
    harness.sandbox.store.delete(EXPORTS, { namespace: NAMESPACE, name: first ?? '' });
    expect([...new Set(await boot(reading).read(6 * MIB, 512))]).toEqual([3]);
    const [second] = names(EXPORTS);
    expect(second).not.toBe(first);

    const [snapshot = ''] = names(SNAPSHOTS);
    harness.sandbox.store.delete(SNAPSHOTS, { namespace: NAMESPACE, name: snapshot });
    await settled();
    await expect(boot(reading).read(0, 512)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
      message: `The snapshot of the backup of ${vm.name} was deleted before it was read.`,
    });
    await reading.close({ keep: false });
    await (await read(vm)).close({ keep: true });
  });

  test('has the same bytes when its connections break in the middle', async () => {
    const vm = await harness.givenVmWithDisk();
    const claim = await harness.rootClaimOf(vm);
    const content = Buffer.from(Uint8Array.from({ length: 8 * MIB }, (_, index) => (index * 7919) >> 8));
    await harness.simulation.writeDisk(NAMESPACE, claim, 0, content);
    const reading = await read(vm);
    const { faults, requests } = harness.sandbox;
    faults.reset({ verb: 'get', resource: 'services' }, 'halfway', { every: 1, times: 5 });
    requests.reset();
    const disk = boot(reading);
    const blocks = await Promise.all(Array.from({ length: 8 }, (_, block) => disk.read(block * MIB, MIB)));
    expect(Buffer.concat(blocks).equals(content)).toBe(true);
    const opened = Object.entries(requests.summary()).filter(([request]) => request.startsWith('get services/proxy/'));
    expect(opened.map(([, count]) => count > 5)).toEqual([true]);
    await reading.close({ keep: true });
  });

  test('waits for an exporter that is started again', async () => {
    const vm = await harness.givenVmWithDisk();
    const reading = await read(vm);
    const [name = ''] = names(EXPORTS);
    const key = { namespace: NAMESPACE, name };
    const { status } = harness.sandbox.store.get(EXPORTS, key) as unknown as { status: { phase: string } };
    const setPhase = (phase: string): void =>
      void harness.sandbox.store.patch(EXPORTS, key, (draft) => {
        (draft as unknown as { status: object }).status = { ...status, phase };
      });
    setPhase('Pending');
    const bytes = boot(reading).read(0, 512);
    expect((await bytes).readUInt16LE(510)).toBe(0xaa55);
    await reading.close({ keep: true });
  });

  test('leaves nothing behind when its snapshot fails, or when it is canceled meanwhile', async () => {
    const vm = await harness.givenVmWithDisk();
    const before = everything();
    harness.simulation.faults.inject('snapshot-failure', vm);
    await expect(read(vm)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: `The disks of ${vm.name} can't be saved: snapshot deadline exceeded.`,
    });
    expect(await settled()).toEqual(before);
    harness.simulation.faults.clear('snapshot-failure', vm);

    const gone = new AbortController();
    const unsubscribe = harness.sandbox.store.subscribe(EXPORTS, ({ type }) => {
      if (type === 'ADDED') gone.abort(new Error('The task was canceled.'));
    });
    await expect(read(vm, 'daily', gone.signal)).rejects.toThrow('The task was canceled.');
    unsubscribe();
    expect(await settled()).toEqual(before);
    await (await read(vm)).close({ keep: true });
  });

  test('ends with the service, and leaves nothing behind', async () => {
    const vm = await harness.givenVmWithDisk();
    const before = everything();
    const reading = await read(vm);
    await harness.backend.close();
    expect(await settled()).toEqual(before);
    await expect(boot(reading).read(0, 512)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await reading.close({ keep: false });
  });

  test('begins with the removal of what a killed service has left of the same VM and series, and nothing else', async () => {
    const [vm, other] = [await harness.givenVmWithDisk(), await harness.givenVmWithDisk()];
    await usersObjects(vm);
    const left = (name: string, { of = vm, series = 'daily', labels = { 'svc.dev/backup': name } as object } = {}) =>
      harness.sandbox.store.create(SNAPSHOTS, {
        apiVersion: 'snapshot.kubevirt.io/v1beta1',
        kind: 'VirtualMachineSnapshot',
        metadata: {
          name,
          namespace: NAMESPACE,
          labels,
          annotations: { 'svc.dev/backup-series': series, 'svc.dev/backup-beat': '4' },
        },
        spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: of.name } },
      } as never);
    left('left');
    left('of-another-target', { series: 'weekly' });
    left('of-another-vm', { of: other });
    left('without-the-label', { labels: {} });
    const isOver = (): boolean =>
      listed(SNAPSHOTS).every((one) => (one as unknown as { status?: { readyToUse?: boolean } }).status?.readyToUse) &&
      listed('virtualmachines.kubevirt.io').every((one) => !JSON.stringify(one).includes('snapshotInProgress'));
    while (!isOver()) await new Promise((resolve) => setImmediate(resolve));
    await (await read(vm)).close({ keep: true });
    await settled();
    expect(names(SNAPSHOTS).sort()).toEqual([
      'before-the-update',
      'of-another-target',
      'of-another-vm',
      'without-the-label',
    ]);
  });

  test('is refused for a boot disk that is no volume, and without the other disks that are none', async () => {
    await harness.close();
    await open({ source: { kind: 'containerDisk', image: 'registry.example.org/containerdisks/fedora:42' } });
    const volatile = await harness.givenVm('Stopped');
    const refusal = { code: 'NOT_SUPPORTED', reason: expect.stringMatching(/^The boot disk .* is not a volume/) };
    expect(await source.check(volatile)).toEqual([expect.objectContaining(refusal)]);
    await expect(read(volatile)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expect(names(SNAPSHOTS)).toEqual([]);

    const vm = await harness.givenVmWithDisk();
    harness.sandbox.store.patch('virtualmachines.kubevirt.io', vm, (draft) => {
      const { spec } = (draft as unknown as { spec: { template: { spec: never } } }).spec.template as unknown as {
        spec: { volumes: object[]; domain: { devices: { disks: object[] } } };
      };
      spec.volumes.push({ name: 'scratch', emptyDisk: { capacity: '1Gi' } });
      spec.domain.devices.disks.push({ name: 'scratch', disk: { bus: 'virtio' } });
    });
    const reading = await read(vm);
    expect(reading.disks).toHaveLength(1);
    expect(reading.warnings).toEqual([expect.stringMatching(/^The disk scratch is not a volume/)]);
    await reading.close({ keep: true });
  });

  test('is refused without snapshots of its storage, while a snapshot is created, and in a second backup', async () => {
    await harness.close();
    await open({ simulation: { cluster: { ...TWO_NODES, defaultStorageClass: 'local-path' } } });
    const local = await harness.givenVm('Running');
    expect(await source.check(local)).toEqual([
      expect.objectContaining({
        code: 'NOT_SUPPORTED',
        reason: expect.stringMatching(/^The disk .* can't be saved: No VolumeSnapshotClass/),
        remedy: 'Use a storage class whose driver has a VolumeSnapshotClass.',
      }),
    ]);
    await expect(read(local)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expect(names(SNAPSHOTS)).toEqual([]);

    await harness.close();
    await open();
    const vm = await harness.givenVmWithDisk();
    const reading = await read(vm);
    expect(await source.check(vm)).toEqual([expect.objectContaining({ code: 'BUSY' })]);
    await reading.close({ keep: true });
    harness.sandbox.store.patch('virtualmachines.kubevirt.io', vm, (draft) => {
      const machine = draft as unknown as { status: object };
      machine.status = { ...machine.status, snapshotInProgress: 'of-the-user' };
    });
    expect(await source.check(vm)).toEqual([
      expect.objectContaining({ code: 'BUSY', reason: `The snapshot of-the-user of ${vm.name} is in progress.` }),
    ]);
  });
});

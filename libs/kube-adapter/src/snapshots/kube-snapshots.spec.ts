import { DomainError, type InstanceRef, type VmSource } from '@headgate/domain-contracts';
import { PacedClock } from '@headgate/kube-sandbox';
import { createdVm, instanceCloningContract, instanceSnapshotsContract, recordingReporter } from '@headgate/testing';
import type { KubeObject } from '../api/kube-object.js';
import { SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const TIMEOUT_MS = 60_000;
const DISK: VmSource = { kind: 'import', url: 'https://images.example/fedora.qcow2' };
const withDisk = (options: SandboxHarnessOptions = {}): Promise<SandboxHarness> =>
  SandboxHarness.open({ source: DISK, ...options });

instanceSnapshotsContract('kube over the sandbox with disks', () => withDisk(), { timeoutMs: TIMEOUT_MS });
instanceCloningContract('kube over the sandbox with disks', () => withDisk(), { timeoutMs: TIMEOUT_MS });

interface Vm extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly domain: { readonly firmware?: { readonly uuid?: string } };
        readonly volumes: readonly {
          readonly name: string;
          readonly dataVolume?: { readonly name: string };
          readonly persistentVolumeClaim?: { readonly claimName: string };
          readonly cloudInitNoCloud?: { readonly secretRef?: { readonly name: string } };
        }[];
      };
    };
  };
}

const VMS = 'virtualmachines.kubevirt.io';
const SNAPSHOTS = 'virtualmachinesnapshots.snapshot.kubevirt.io';

describe('snapshots and clones on a cluster', () => {
  let harness: SandboxHarness | undefined;

  afterEach(async () => {
    await harness?.close();
    harness = undefined;
  });

  const open = async (options?: SandboxHarnessOptions): Promise<SandboxHarness> => (harness = await withDisk(options));
  const vmOf = ({ sandbox }: SandboxHarness, { namespace, name }: InstanceRef): Vm =>
    sandbox.store.get(VMS, { namespace, name }) as unknown as Vm;
  const taken = async ({ backend }: SandboxHarness, ref: InstanceRef, name: string): Promise<void> => {
    const { remaining } = await backend.require('snapshots').create(ref, { name });
    await remaining?.(recordingReporter());
  };

  test('a clone gets a copy of the cloud-init Secret, other firmware and none of the labels of this service', async () => {
    const opened = await open();
    const { backend, sandbox, recorder } = opened;
    const source = opened.freshRef();
    const cloudInit = `#cloud-config\n# ${'x'.repeat(3000)}\n`;
    const size = { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3 };
    const { remaining } = await backend
      .require('provisioning')
      .create({ ref: source, source: DISK, ...size, cloudInit, start: false });
    await remaining?.(recordingReporter());
    await backend.require('provisioning').setTag(source, 'prod', true);
    await backend.require('cloning').setTemplate(source, true);
    await recorder.untilVm(source, ({ isTemplate, tags }) => isTemplate && tags.includes('prod'));

    const target = opened.freshRef();
    const clone = await backend.require('cloning').clone(source, target);
    await clone.remaining?.(recordingReporter());
    const [from, to] = [vmOf(opened, source), vmOf(opened, target)];
    const secretOf = (vm: Vm): string =>
      vm.spec.template.spec.volumes.find(({ cloudInitNoCloud }) => cloudInitNoCloud)?.cloudInitNoCloud?.secretRef
        ?.name ?? '';
    expect(secretOf(to)).not.toBe(secretOf(from));
    expect(Object.keys(to.metadata.labels ?? {}).filter((label) => label.startsWith('svc.dev/'))).toEqual([
      'svc.dev/vm',
    ]);
    expect(to.metadata.labels?.['svc.dev/vm']).toBe(target.name);
    expect(to.spec.template.spec.domain.firmware?.uuid).not.toBe(from.spec.template.spec.domain.firmware?.uuid);

    await backend.require('provisioning').delete(source);
    await recorder.until(() => recorder.vm(source) === undefined);
    const secret = sandbox.store.get('secrets', { namespace: target.namespace, name: secretOf(to) }) as unknown as {
      data: Record<string, string>;
    };
    expect(Buffer.from(secret.data['userdata'] ?? '', 'base64').toString()).toBe(cloudInit);
    await backend.require('provisioning').delete(target);
    await recorder.until(() => recorder.vm(target) === undefined);
    expect(sandbox.store.list('secrets', { namespace: target.namespace })).toEqual([]);
  });

  test('a restore gives the VM the saved volumes, and deletes nothing of another VM', async () => {
    const opened = await open();
    const { ref } = await createdVm(opened, opened.recorder);
    const other = await createdVm(opened, opened.recorder);
    const before = vmOf(opened, other.ref).spec;
    await taken(opened, ref, 'one');
    const volume = (): unknown => vmOf(opened, ref).spec.template.spec.volumes[0];
    const saved = volume();
    await (
      await opened.backend.require('snapshots').restore(ref, 'one')
    )(recordingReporter());
    expect(volume()).not.toEqual(saved);
    expect(vmOf(opened, other.ref).spec).toEqual(before);
    await opened.backend.require('power').apply(ref, 'start');
    await opened.recorder.untilVm(ref, ({ status }) => status === 'Running');
  });

  test('a restore keeps a VM stopped that is being stopped, although its guest still runs', async () => {
    const clock = new PacedClock();
    const opened = await open({ sandbox: { clock }, simulation: { timeScale: 0.02 } });
    const { backend, recorder } = opened;
    const power = backend.require('power');
    const { ref } = await createdVm(opened, recorder);
    await taken(opened, ref, 'one');
    await power.apply(ref, 'start');
    await recorder.untilVm(ref, ({ status }) => status === 'Running');
    clock.hold();
    await power.apply(ref, 'stop');

    const { steps } = await backend.require('snapshots').planRestore(ref, 'one');
    expect(steps.map(({ name }) => name)).toEqual(['stop', 'restore']);
    const restoring = await backend.require('snapshots').restore(ref, 'one');
    clock.release();
    await restoring(recordingReporter());
    await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
    expect(await power.staysOn(ref)).toBe(false);
    clock.stop();
  });

  test('a snapshot that fails says why, is listed as failed and can not be restored', async () => {
    const opened = await open();
    const { ref } = await createdVm(opened, opened.recorder);
    opened.simulation.faults.inject('snapshot-failure', { namespace: ref.namespace, name: ref.name });
    await expect(taken(opened, ref, 'one')).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: 'The snapshot one failed: snapshot deadline exceeded.',
    });
    const snapshots = opened.backend.require('snapshots');
    expect(await snapshots.list(ref)).toMatchObject([
      { name: 'one', phase: 'Failed', ready: false, reason: 'snapshot deadline exceeded' },
    ]);
    await expect(snapshots.restore(ref, 'one')).rejects.toMatchObject({ code: 'WRONG_STATE' });
    const { remaining } = await snapshots.delete(ref, 'one');
    await remaining?.(recordingReporter());
    expect(await snapshots.list(ref)).toEqual([]);
  });

  test('a snapshot of a deleted VM of the same name is neither listed nor restored, and its name is taken', async () => {
    const opened = await open();
    const { ref } = await createdVm(opened, opened.recorder);
    await taken(opened, ref, 'one');
    opened.sandbox.store.delete(VMS, { namespace: ref.namespace, name: ref.name });
    await opened.recorder.until(() => opened.recorder.vm(ref) === undefined);
    await createdVm(opened, opened.recorder, { ref });
    const snapshots = opened.backend.require('snapshots');
    expect(await snapshots.list(ref)).toEqual([]);
    await expect(snapshots.restore(ref, 'one')).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    await expect(snapshots.delete(ref, 'one')).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    await expect(snapshots.create(ref, { name: 'one' })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
      message: expect.stringContaining('before it was deleted'),
    });
    expect(opened.sandbox.store.get(SNAPSHOTS, { namespace: ref.namespace, name: 'one' })).toBeDefined();
  });

  test('are refused without the feature gate, with the remedy', async () => {
    const opened = await open({ simulation: { kubevirtVersion: '1.8', cluster: { featureGates: [] } } });
    const { ref } = await createdVm(opened, opened.recorder);
    for (const attempt of [
      opened.backend.require('snapshots').create(ref, { name: 'one' }),
      opened.backend.require('cloning').clone(ref, opened.freshRef()),
    ]) {
      const refused: unknown = await attempt.catch((error: unknown) => error);
      expect(DomainError.is(refused, 'NOT_SUPPORTED') && refused.message).toContain('feature gate Snapshot');
    }
  });

  test('are refused for a disk whose storage has no snapshots', async () => {
    const opened = await open({ simulation: { cluster: { defaultStorageClass: 'local-path' } } });
    const { ref } = await createdVm(opened, opened.recorder);
    await expect(opened.backend.require('snapshots').create(ref, { name: 'one' })).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('The disk root of'),
    });
  });
});

describe('KubeSnapshots and the lock of a VM', () => {
  test('ends only when the VM can be changed, snapshotted and restored again', async () => {
    const clock = new PacedClock();
    const simulation = { timeScale: 0.02, timings: { snapshotUnlock: 100_000 } };
    const harness = await SandboxHarness.open({ sandbox: { clock }, simulation });
    const ref = await harness.givenVmWithDisk();
    const snapshots = harness.backend.require('snapshots');
    const { namespace, name } = ref;
    for (const snapshot of ['one', 'two']) {
      const { remaining } = await snapshots.create(ref, { name: snapshot });
      await remaining?.(recordingReporter());
      const vm = harness.sandbox.store.get('virtualmachines.kubevirt.io', { namespace, name });
      expect((vm as { status?: object } | undefined)?.status).not.toHaveProperty('snapshotInProgress');
    }
    await expect(snapshots.planRestore(ref, 'two')).resolves.toMatchObject({ refusals: [] });
    await harness.close();
    clock.stop();
  });
});

import { SystemClock, type InstanceRef, type VmSpec } from '@headgate/domain-contracts';
import { recordingReporter } from '@headgate/testing';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const GIB = 1024 ** 3;

describe('KubeProvisioning', () => {
  let harness: SandboxHarness;

  beforeAll(async () => {
    harness = await SandboxHarness.open();
  });
  afterEach(() => harness.sandbox.faults.clear());
  afterAll(() => harness.close());

  const provisioning = () => harness.backend.require('provisioning');
  const specOf = async (overrides: Partial<VmSpec> = {}): Promise<VmSpec> => ({
    ref: harness.freshRef(),
    cpu: 1,
    memoryBytes: GIB,
    diskBytes: 2 * GIB,
    source: overrides.source ?? (await harness.quickSource()),
    start: false,
    ...overrides,
  });
  /** Names of the objects of one kind that are not being deleted. */
  const names = (resource: string, namespace = NAMESPACE): string[] =>
    harness.sandbox.store
      .list(resource, { namespace })
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name ?? '');
  const namesFor = (resource: string, { name }: InstanceRef): string[] =>
    names(resource).filter((found) => found === name || found.startsWith(`${name}-`));
  const ALL = ['virtualmachines.kubevirt.io', 'datavolumes.cdi.kubevirt.io', 'persistentvolumeclaims', 'secrets'];
  const expectNothingLeft = (ref: InstanceRef): void => {
    for (const resource of ALL) expect(namesFor(resource, ref)).toEqual([]);
  };
  const put = (resource: string, object: object): void => void harness.sandbox.store.create(resource, object as never);

  test('imports a disk and follows it to the end', async () => {
    const spec = await specOf({ source: { kind: 'import', url: 'https://images.example/a.qcow2' } });
    const { remaining } = await provisioning().create(spec);
    const report = recordingReporter();
    await remaining?.(report);
    expect(report.steps).toEqual(['import']);
    expect(report.fractions.at(-1)).toBe(1);
    const vm = await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    expect(vm.diskBytes).toBe(2 * GIB);
    await provisioning().delete(spec.ref);
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expectNothingLeft(spec.ref);
  });

  test('creates an empty disk and an installer from an ISO', async () => {
    const spec = await specOf({ source: { kind: 'iso', url: 'https://images.example/installer.iso' }, start: true });
    await (await provisioning().create(spec)).remaining?.(recordingReporter());
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Running');
    expect(namesFor('datavolumes.cdi.kubevirt.io', spec.ref)).toHaveLength(2);
    expect(harness.recorder.vm(spec.ref)?.diskBytes).toBe(2 * GIB);
  });

  test('boots from an existing claim, and keeps the claim when the VM is deleted', async () => {
    put('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'golden', namespace: NAMESPACE },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '7Gi' } } },
    });
    const spec = await specOf({ source: { kind: 'pvc', claim: 'golden' } });
    await provisioning().create(spec);
    await harness.recorder.untilVm(spec.ref, ({ diskBytes }) => diskBytes === 7 * GIB);
    await provisioning().delete(spec.ref);
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expect(names('persistentvolumeclaims')).toContain('golden');
  });

  test.each(['Win 10.qcow2', 'default/data'])('finds no claim with the name %j of a libvirt volume', async (claim) => {
    const spec = await specOf({ source: { kind: 'pvc', claim } });
    expect((await provisioning().planCreate(spec)).refusals).toEqual([
      expect.objectContaining({ code: 'VOLUME_NOT_FOUND' }),
    ]);
  });

  test('refuses a claim that another VM or a container uses, also in the plan', async () => {
    const claim = (name: string, labels = {}) =>
      put('persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace: NAMESPACE, labels },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      });
    claim('taken');
    claim('box-ct-data', { 'svc.dev/kind': 'ct', 'svc.dev/name': 'box' });
    const owner = await specOf({ source: { kind: 'pvc', claim: 'taken' } });
    await provisioning().create(owner);
    for (const [name, user] of [
      ['taken', `the VM ${owner.ref.name}`],
      ['box-ct-data', 'the container box'],
    ] as const) {
      const spec = await specOf({ source: { kind: 'pvc', claim: name } });
      await expect(provisioning().create(spec)).rejects.toMatchObject({
        code: 'BUSY',
        message: expect.stringContaining(user),
      });
      expect((await provisioning().planCreate(spec)).refusals.map(({ code }) => code)).toEqual(['BUSY']);
      expectNothingLeft(spec.ref);
    }
    await provisioning().delete(owner.ref);
    await harness.recorder.until(() => harness.recorder.vm(owner.ref) === undefined);
    await provisioning().create(await specOf({ source: { kind: 'pvc', claim: 'taken' } }));
  });

  test('refuses bootc without a disk, which a plugin builds', async () => {
    const spec = await specOf({ source: { kind: 'bootc', image: 'registry.example.org/fedora/fedora-bootc:42' } });
    await expect(provisioning().create(spec)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expectNothingLeft(spec.ref);
  });

  test('puts long user data into a Secret that the VM owns', async () => {
    const spec = await specOf({ cloudInit: `#cloud-config\n# ${'x'.repeat(5000)}\n`, start: true });
    await provisioning().create(spec);
    const [secret] = namesFor('secrets', spec.ref);
    expect(secret).toBeDefined();
    expect(harness.sandbox.store.get('secrets', { namespace: NAMESPACE, name: secret ?? '' })?.metadata).toMatchObject({
      labels: { 'svc.dev/vm': spec.ref.name },
      ownerReferences: [{ kind: 'VirtualMachine', name: spec.ref.name }],
    });
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Running');
    await provisioning().delete(spec.ref);
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expectNothingLeft(spec.ref);
  });

  test('masks user data in the manifest on request only', async () => {
    const spec = await specOf({ cloudInit: '#cloud-config\npassword: hush\n' });
    await provisioning().create(spec);
    const inventory = harness.backend.require('inventory');
    expect(JSON.stringify(await inventory.manifest(spec.ref, { masked: true }))).not.toContain('hush');
    expect(JSON.stringify(await inventory.manifest(spec.ref, { masked: false }))).toContain('hush');
  });

  test.each(['forbidden', 'admission'] as const)(
    'leaves nothing behind when the Secret is refused (%s)',
    async (how) => {
      const { faults } = harness.sandbox;
      if (how === 'forbidden') faults.forbid({ resource: 'secrets', verb: 'create' });
      else {
        faults.refuseAdmission({ resource: 'secrets', verb: 'create' }, 'policy.example', {
          code: 403,
          message: 'no',
        } as never);
      }
      const spec = await specOf({ cloudInit: 'x'.repeat(5000), start: true });
      await expect(provisioning().create(spec)).rejects.toMatchObject({
        code: how === 'forbidden' ? 'BACKEND_FORBIDDEN' : 'REJECTED_BY_BACKEND',
      });
      await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
      expectNothingLeft(spec.ref);
    },
  );

  test("reports the message of the cluster's admission, also in the plan, and creates nothing", async () => {
    harness.sandbox.faults.refuseAdmission(
      { resource: 'virtualmachines.kubevirt.io', verb: 'create' },
      'vm-policy.example',
      { code: 403, message: 'tailvm is closed on Sundays' } as never,
    );
    const spec = await specOf();
    const message = expect.stringContaining('tailvm is closed on Sundays');
    await expect(provisioning().create(spec)).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND', message });
    expect((await provisioning().planCreate(spec)).refusals).toMatchObject([
      { code: 'REJECTED_BY_BACKEND', reason: message },
    ]);
    expectNothingLeft(spec.ref);
  });

  test('refuses an operating system, and autostart of a VM that is not started', async () => {
    const codesOf = async (overrides: Partial<VmSpec>) =>
      (await provisioning().planCreate(await specOf(overrides))).refusals.map(
        ({ code, reason }) => `${code} ${reason.split(':')[0]}`,
      );
    expect(await codesOf({ os: 'debian12', autostart: true })).toEqual(['NOT_SUPPORTED os', 'NOT_SUPPORTED autostart']);
    expect(await codesOf({ autostart: true, start: true })).toEqual([]);
  });

  test('refuses all problems together that the cluster would find only later', async () => {
    const spec = await specOf({ instancetype: 'u9.none', preference: 'none', node: 'nowhere' });
    const { refusals } = await provisioning().planCreate(spec);
    expect(refusals.map(({ code }) => code)).toEqual(['INVALID_INPUT', 'INVALID_INPUT', 'NODE_NOT_FOUND']);
    await expect(provisioning().create(spec)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expectNothingLeft(spec.ref);
  });

  test('creates a VM with an instancetype and shows its size', async () => {
    const spec = await specOf({ instancetype: 'u1.large', preference: 'fedora' });
    await provisioning().create(spec);
    const size = { cpu: 2, memoryBytes: 8 * GIB };
    const vm = await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    expect(vm).toMatchObject(size);
  });

  test('creates a missing namespace, and announces it in the plan', async () => {
    const spec = await specOf({ ref: { ...harness.freshRef(), namespace: 'brand-new' } });
    expect((await provisioning().planCreate(spec)).steps[0]).toMatchObject({ name: 'namespace' });
    await provisioning().create(spec);
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
  });

  test('deletes the objects that have its label or that it owns, and none with a similar name', async () => {
    const spec = await specOf({ source: { kind: 'import', url: 'https://images.example/a.qcow2' } });
    await (await provisioning().create(spec)).remaining?.(recordingReporter());
    const { name } = spec.ref;
    const claim = (claimName: string, labels: Record<string, string>, ownerReferences: object[] = []) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: claimName, namespace: NAMESPACE, labels, ownerReferences },
    });
    const other = await harness.givenVm('Stopped');
    const uid = harness.recorder.vm(other)?.uid;
    put('persistentvolumeclaims', claim(`${name}-hotplug`, { 'svc.dev/vm': name }));
    put('persistentvolumeclaims', claim(`${name}-2`, { 'svc.dev/vm': `${name}-2` }));
    put('persistentvolumeclaims', claim(`${name}-similar`, {}));
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: other.name, uid };
    put('persistentvolumeclaims', claim(`${name}-of-a-clone`, { 'svc.dev/vm': name }, [owner]));
    put('services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `${name}-proxy`, namespace: NAMESPACE, labels: { 'svc.dev/vm': name } },
    });
    put('virtualmachinesnapshots.snapshot.kubevirt.io', {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineSnapshot',
      metadata: { name: `${name}-snap`, namespace: NAMESPACE, labels: { 'svc.dev/vm': name } },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name } },
    });
    const { steps } = await provisioning().planDelete(spec.ref);
    expect(steps.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([expect.stringContaining(`${name}-hotplug`)]),
    );
    await provisioning().delete(spec.ref);
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expect(namesFor('persistentvolumeclaims', spec.ref).sort()).toEqual([
      `${name}-2`,
      `${name}-of-a-clone`,
      `${name}-similar`,
    ]);
    expect(namesFor('services', spec.ref)).toEqual([]);
    expect(namesFor('virtualmachinesnapshots.snapshot.kubevirt.io', spec.ref)).toEqual([]);
    expect(namesFor('datavolumes.cdi.kubevirt.io', spec.ref)).toEqual([]);
  });

  test('completes a deletion that was interrupted after the VM', async () => {
    const ref = harness.freshRef();
    put('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${ref.name}-left`, namespace: NAMESPACE, labels: { 'svc.dev/vm': ref.name } },
    });
    await provisioning().delete(ref);
    expectNothingLeft(ref);
    await expect(provisioning().delete(ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('leaves nothing behind when the service ends right after the deletion of the VM', async () => {
    const ref = await harness.givenVm('Stopped');
    await harness.backend.require('snapshots').create(ref, { name: `${ref.name}-s` });
    const disk = { kind: 'attach-volume', disk: { sizeBytes: GIB } } as const;
    await harness.backend.require('hardware').apply(ref, disk);
    const kinds = [...ALL, 'virtualmachinesnapshots.snapshot.kubevirt.io'];
    const left = (): string[] => kinds.flatMap((kind) => namesFor(kind, ref));
    expect(namesFor('datavolumes.cdi.kubevirt.io', ref)).not.toEqual([]);
    expect(namesFor('virtualmachinesnapshots.snapshot.kubevirt.io', ref)).toHaveLength(1);
    for (const resource of kinds.slice(1)) harness.sandbox.faults.forbid({ verb: 'delete', resource });
    await expect(provisioning().delete(ref)).rejects.toThrow();
    await harness.recorder.until(() => left().length === 0);
  });

  test('refuses to delete a protected VM, and shows the protection', async () => {
    const ref = await harness.givenVm('Stopped');
    harness.sandbox.store.patch('virtualmachines.kubevirt.io', ref, (vm) => {
      vm.metadata.labels = { ...vm.metadata.labels, 'kubevirt.io/vm-delete-protection': 'True' };
    });
    await harness.recorder.untilVm(ref, (vm) => vm.protected);
    await expect(provisioning().delete(ref)).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND' });
    expect((await provisioning().planDelete(ref)).refusals).toHaveLength(1);
    expect(harness.recorder.vm(ref)).toBeDefined();
  });

  test('survives repeated write conflicts', async () => {
    for (const verb of ['create', 'patch', 'delete']) harness.sandbox.faults.failNext({ verb }, 409, 2);
    const ref = await harness.givenVm('Stopped');
    await provisioning().setTag(ref, 'web', true);
    await harness.recorder.untilVm(ref, ({ tags }) => tags.includes('web'));
    await provisioning().delete(ref);
    await harness.recorder.until(() => harness.recorder.vm(ref) === undefined);
  });
});

/**
 * A system clock whose timers of half a minute and five minutes, the limits of an import, run when the test says so.
 */
class HeldClock extends SystemClock {
  private readonly held = new Map<number, Set<() => void>>();

  override after(ms: number, callback: () => void): () => void {
    if (ms !== 30_000 && ms !== 300_000) return super.after(ms, callback);
    const timers = this.held.get(ms) ?? new Set();
    this.held.set(ms, timers.add(callback));
    return () => void timers.delete(callback);
  }

  expire(ms: number): void {
    for (const callback of this.held.get(ms) ?? []) callback();
  }
}

describe('KubeProvisioning and imports', () => {
  let harness: SandboxHarness;
  let clock: HeldClock;

  const open = async (settings: SandboxHarnessOptions = {}): Promise<void> => {
    clock = new HeldClock();
    harness = await SandboxHarness.open({ ...settings, backend: { clock } });
  };
  afterEach(() => harness.close());

  /** Makes the class whose volumes wait for their first consumer the default one. */
  const useLocalStorage = (): void => {
    harness.sandbox.store.patch('storageclasses.storage.k8s.io', { name: 'local-path' }, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'storageclass.kubevirt.io/is-default-virt-class': 'true' };
    });
  };
  const importing = async ({
    start = false,
    url = 'https://images.example/a.qcow2',
    fault,
  }: { start?: boolean; url?: string; fault?: 'import-fatal' } = {}) => {
    const ref = harness.freshRef();
    // Before the import begins: with this clock it takes no time.
    if (fault) harness.simulation.faults.inject(fault, ref);
    const size = { cpu: 1, memoryBytes: GIB, diskBytes: 2 * GIB, start };
    const source = { kind: 'import', url } as const;
    const { remaining } = await harness.backend.require('provisioning').create({ ref, source, ...size });
    const report = recordingReporter();
    const done = remaining?.(report) ?? Promise.reject(new Error('nothing remains to be done'));
    done.catch(() => undefined);
    const logged = async (line: RegExp): Promise<void> => {
      while (!report.lines.some((each) => line.test(each))) await new Promise((resolve) => setImmediate(resolve));
    };
    return { ref, report, done, logged };
  };
  const shownReason = (ref: InstanceRef, reason: RegExp) =>
    harness.recorder.untilVm(ref, (vm) => reason.test(vm.reason ?? ''));

  test('leaves the VM of a failed import in the list, with the reason, until it is deleted', async () => {
    await open();
    const { store } = harness.sandbox;
    const { ref, done } = await importing({ url: 'https://images.example/wrong.qcow2', fault: 'import-fatal' });
    await expect(done).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/import of the disk of .* failed: checksum mismatch/),
    });
    const { reason } = await harness.recorder.untilVm(ref, ({ status }) => status === 'DataVolumeError');
    expect(reason).toMatch(/can't be filled: checksum mismatch/);
    await harness.backend.require('provisioning').delete(ref);
    await harness.recorder.until(() => harness.recorder.vm(ref) === undefined);
    expect(store.list('datavolumes.cdi.kubevirt.io')).toEqual([]);
  });

  test('ends early on storage that waits for its first consumer when the VM is not to be started', async () => {
    await open();
    useLocalStorage();
    const { ref, done, report } = await importing();
    await done;
    expect(report.lines).toEqual([expect.stringMatching(/will be filled when the VM is started/)]);
    await harness.recorder.untilVm(ref, ({ status, reason }) => status === 'Stopped' && reason === undefined);
  });

  test('follows the import on such storage to its end when the VM is to be started', async () => {
    await open();
    useLocalStorage();
    const { ref, done, report } = await importing({ start: true });
    await done;
    expect(report.lines).toEqual([expect.stringMatching(/is ready/)]);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running');
  });

  test('reports a dead URL on such storage as a failure', async () => {
    await open({ simulation: { timeScale: 0.001 } });
    useLocalStorage();
    const { ref, done } = await importing({ start: true, url: 'https://images.invalid/a.qcow2' });
    await expect(done).rejects.toMatchObject({ message: expect.stringMatching(/got 404/) });
    expect(harness.recorder.vm(ref)).toBeDefined();
  });

  test('explains an import that cannot begin, and fails when the problem lasts', async () => {
    await open({ simulation: { cluster: { storage: false } } });
    const { ref, done, logged } = await importing();
    await logged(/no storageClass to choose profile/);
    await shownReason(ref, /can't be filled: .*no storageClass/);
    clock.expire(30_000);
    await expect(done).rejects.toMatchObject({ message: expect.stringMatching(/no storageClass to choose profile/) });
    expect(harness.recorder.vm(ref)?.status).toBe('Provisioning');
  });

  test('fails after five minutes when an import does not begin for an unknown reason', async () => {
    await open();
    // Without a watch, the DataVolume never appears.
    harness.sandbox.faults.forbid({ resource: 'datavolumes.cdi.kubevirt.io', verb: 'list' });
    const { done } = await importing();
    clock.expire(300_000);
    await expect(done).rejects.toMatchObject({ message: expect.stringMatching(/has not begun after 5 minutes/) });
  });

  test('imports a catalog image into a volume, and marks only a VM on a container disk as volatile', async () => {
    await open();
    const entry = { name: 'fedora', description: '', containerDisk: 'registry.example.org/fedora:42', defaultUser: '' };
    const size = { cpu: 1, memoryBytes: GIB, diskBytes: 2 * GIB, start: true };
    const provisioning = harness.backend.require('provisioning');
    const spec = { ref: harness.freshRef(), source: { kind: 'image', entry } as const, ...size };
    expect((await provisioning.planCreate(spec)).warnings).toEqual([]);
    await (await provisioning.create(spec)).remaining?.(recordingReporter());
    const vm = await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Running');
    expect(vm).not.toHaveProperty('volatile');
    const volatile = { ...spec, ref: harness.freshRef(), source: await harness.quickSource() };
    expect((await provisioning.planCreate(volatile)).warnings).toEqual([expect.stringMatching(/not persistent/)]);
    await provisioning.create(volatile);
    await harness.recorder.untilVm(volatile.ref, (shown) => shown.volatile === true);
  });

  test('says that a disk is being filled', async () => {
    await open({ simulation: { timeScale: 5 } });
    const { ref, done } = await importing();
    await shownReason(ref, /^The disk .* is being filled\.$/);
    expect(harness.recorder.vm(ref)?.status).toBe('Provisioning');
    await harness.backend.require('provisioning').delete(ref);
    await expect(done).rejects.toThrow();
  });

  test('ends immediately when the VM is deleted', async () => {
    await open({ simulation: { cluster: { storage: false } } });
    const { ref, done } = await importing();
    await harness.deleteExternally(ref);
    await expect(done).rejects.toMatchObject({ message: expect.stringMatching(/was deleted/) });
  });

  test('is not affected by failed reads', async () => {
    await open();
    for (const resource of ['datavolumes.cdi.kubevirt.io', 'virtualmachines.kubevirt.io']) {
      harness.sandbox.faults.failNext({ resource, verb: 'get' }, 500, 3);
    }
    const { ref, done } = await importing();
    await done;
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Stopped');
  });
});

describe('KubeProvisioning on KubeVirt 1.4', () => {
  test('deletes the clones of a VM, which are v1alpha1 there', async () => {
    const harness = await SandboxHarness.open({ simulation: { kubevirtVersion: '1.4' } });
    const ref = await harness.givenVm('Stopped');
    harness.sandbox.store.create('virtualmachineclones.clone.kubevirt.io', {
      apiVersion: 'clone.kubevirt.io/v1alpha1',
      kind: 'VirtualMachineClone',
      metadata: { name: 'copy', namespace: NAMESPACE, labels: { 'svc.dev/vm': ref.name } },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'missing' } },
    } as never);
    const { steps } = await harness.backend.require('provisioning').planDelete(ref);
    expect(steps.map(({ detail }) => detail)).toContain('VirtualMachineClone copy.');
    await harness.backend.require('provisioning').delete(ref);
    expect(harness.sandbox.store.list('virtualmachineclones.clone.kubevirt.io')).toEqual([]);
    await harness.close();
  });
});

describe('KubeProvisioning without CDI', () => {
  test('names CDI in the refusal of an import, and still creates VMs from container disks', async () => {
    const harness = await SandboxHarness.open({ simulation: { without: ['cdi', 'snapshots'] } });
    const provisioning = harness.backend.require('provisioning');
    const ref = harness.freshRef();
    const size = { cpu: 1, memoryBytes: GIB, diskBytes: GIB, start: false };
    const source = { kind: 'import', url: 'https://images.example/a.qcow2' } as const;
    await expect(provisioning.create({ ref, source, ...size })).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringMatching(/CDI/),
    });
    expect(provisioning.sources()).toMatchObject({ import: expect.stringMatching(/CDI/), containerDisk: true });
    const entry = { name: 'fedora', description: '', containerDisk: 'registry.example.org/fedora:42', defaultUser: '' };
    const plan = await provisioning.planCreate({ ref, source: { kind: 'image', entry }, ...size });
    expect(plan).toMatchObject({ refusals: [], warnings: [expect.stringMatching(/not persistent/)] });
    const url = { ...entry, containerDisk: 'https://images.example/a.qcow2' };
    const refused = await provisioning.planCreate({ ref, source: { kind: 'image', entry: url }, ...size });
    expect(refused.refusals).toMatchObject([{ code: 'NOT_SUPPORTED', reason: expect.stringMatching(/CDI/) }]);
    const vm = await harness.givenVm('Stopped');
    await provisioning.delete(vm);
    await harness.recorder.until(() => harness.recorder.vm(vm) === undefined);
    await harness.close();
  });
});

import { SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import { PacedClock } from '@headgate/kube-sandbox';
import { SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const VMS = 'virtualmachines.kubevirt.io';
const VMIS = 'virtualmachineinstances.kubevirt.io';
const MIGRATIONS = 'virtualmachineinstancemigrations.kubevirt.io';
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';
const CLAIMS = 'persistentvolumeclaims';
const NODES = [{ name: 'node-a' }, { name: 'node-b' }];

interface Template {
  readonly domain: {
    cpu?: { sockets?: number; maxSockets?: number };
    memory?: { guest?: string; maxGuest?: string };
    devices: { disks?: { name: string; disk?: object }[]; interfaces?: { name: string; state?: string }[] };
  };
  volumes?: { name: string; dataVolume?: object; persistentVolumeClaim?: object }[];
}

interface Machine {
  readonly metadata: { uid?: string; name: string };
  readonly spec: { template: { spec: Template } };
  readonly status?: { printableStatus?: string };
}

interface Live {
  readonly metadata: { uid?: string };
  readonly spec: Template;
  readonly status?: {
    currentCPUTopology?: { sockets?: number };
    memory?: { guestCurrent?: string };
    migrationState?: { completed?: boolean };
  };
}

/** Counts the pauses of the adapter, and not the time in which a busy machine does not run it. */
class PauseCounter extends SystemClock {
  pausesMs = 0;

  override delay(ms: number, signal?: AbortSignal): Promise<void> {
    this.pausesMs += ms;
    return super.delay(ms, signal);
  }
}

describe('KubeHardware', () => {
  let harness: SandboxHarness;

  const open = async (options: SandboxHarnessOptions = {}): Promise<void> => {
    const simulation = { ...options.simulation, cluster: { nodes: NODES, ...options.simulation?.cluster } };
    harness = await SandboxHarness.open({ ...options, simulation });
  };
  afterEach(() => harness.close());

  const hardware = () => harness.backend.require('hardware');
  const keyOf = ({ namespace, name }: InstanceRef) => ({ namespace, name });
  const store = () => harness.sandbox.store;
  const machine = (ref: InstanceRef): Machine => store().get(VMS, keyOf(ref)) as never;
  const live = (ref: InstanceRef): Live => store().get(VMIS, keyOf(ref)) as never;
  /** The migration that applies a change begins after the change was accepted. */
  const hasMigrated = (ref: InstanceRef): boolean =>
    live(ref).status?.migrationState?.completed === true && machine(ref).status?.printableStatus === 'Running';
  const listed = (resource: string): { metadata: { name: string; labels?: Record<string, string> } }[] =>
    store().list(resource as never, {}) as never;
  const edit = (ref: InstanceRef, change: (template: Template) => void): void =>
    void store().patch(VMS as never, keyOf(ref), (vm: unknown) => void change((vm as Machine).spec.template.spec));

  describe('scales a running VM', () => {
    test('without a restart, by a migration of its own where the cluster starts none', async () => {
      await open();
      const ref = await harness.givenVm('Running');
      const { uid } = live(ref).metadata;
      const change = { kind: 'scale', cpu: 2, memoryBytes: 2 * GIB, restart: true } as const;
      expect(await hardware().plan(ref, change)).toMatchObject({ effect: 'now', refusals: [] });
      expect(await hardware().apply(ref, change)).toEqual({ effect: 'now' });
      await harness.recorder.untilVm(ref, ({ cpu, memoryBytes }) => cpu === 2 && memoryBytes === 2 * GIB);
      expect(live(ref).metadata.uid).toBe(uid);
      expect(listed(MIGRATIONS).map(({ metadata }) => metadata.name)).toEqual([
        expect.stringMatching(`^apply-${ref.name}-`),
      ]);
    });

    test('by the migration of the cluster, where it starts one', async () => {
      await open({ simulation: { cluster: { workloadUpdateMethods: ['LiveMigrate'] } } });
      const ref = await harness.givenVm('Running');
      await hardware().apply(ref, { kind: 'scale', cpu: 2, restart: true });
      await harness.recorder.untilVm(ref, ({ cpu }) => cpu === 2);
      expect(listed(MIGRATIONS).some(({ metadata }) => metadata.name.startsWith('apply-'))).toBe(false);
    });

    test.each([
      ['fewer CPUs than it has', { cpu: 1 }],
      ['more than it can grow to', { cpu: 9 }],
      ['more memory than it can grow to', { memoryBytes: 5 * GIB }],
    ])('with a restart for %s', async (_title, size) => {
      await open();
      const ref = await harness.givenVm('Running');
      if ('cpu' in size && size.cpu === 1) {
        await hardware().apply(ref, { kind: 'scale', cpu: 2, restart: true });
        await harness.recorder.untilVm(ref, ({ cpu }) => cpu === 2 && hasMigrated(ref));
      }
      const { uid } = live(ref).metadata;
      const change = { kind: 'scale', ...size, restart: true } as const;
      expect(await hardware().plan(ref, change)).toMatchObject({ effect: 'restart' });
      await hardware().apply(ref, change);
      expect(live(ref).metadata.uid).not.toBe(uid);
      await harness.recorder.untilVm(ref, (vm) => vm.status === 'Running' && !vm.restartRequired);
    });

    test('with a restart where there is no other node, or where the cluster stages changes', async () => {
      await open({ simulation: { cluster: { nodes: [{ name: 'node-a' }] } } });
      const one = await harness.givenVm('Running');
      const change = { kind: 'scale', cpu: 2, restart: true } as const;
      expect(await hardware().plan(one, change)).toMatchObject({ effect: 'restart' });
      await harness.close();
      await open({ simulation: { cluster: { vmRolloutStrategy: 'Stage' } } });
      const other = await harness.givenVm('Running');
      expect(await hardware().plan(other, change)).toMatchObject({ effect: 'restart' });
    });
  });

  test('has the new size of a running VM as one that is being applied, until the migration has ended', async () => {
    const clock = new PacedClock();
    await open({ sandbox: { clock }, simulation: { timeScale: 0.02 } });
    const ref = await harness.givenVm('Running');
    expect(await hardware().read(ref)).toMatchObject({ cpu: 1, memoryBytes: GIB, applying: [] });
    clock.hold();
    await hardware().apply(ref, { kind: 'scale', cpu: 2, memoryBytes: 2 * GIB, restart: true });
    expect(await hardware().read(ref)).toMatchObject({
      cpu: 1,
      memoryBytes: GIB,
      pending: [],
      applying: [
        { field: 'cpu', running: '1', configured: '2' },
        { field: 'memory', running: '1Gi', configured: '2Gi' },
      ],
    });
    clock.release();
    await harness.recorder.untilVm(ref, ({ cpu, memoryBytes }) => cpu === 2 && memoryBytes === 2 * GIB);
    expect(await hardware().read(ref)).toMatchObject({ cpu: 2, memoryBytes: 2 * GIB, applying: [] });
    clock.stop();
  });

  describe('scales a VM', () => {
    let clock: PacedClock;
    const change = { kind: 'scale', cpu: 2, restart: true } as const;

    beforeEach(async () => {
      clock = new PacedClock();
      await open({ sandbox: { clock }, simulation: { timeScale: 0.02, cluster: { vmRolloutStrategy: 'Stage' } } });
    });
    afterEach(() => clock.stop());

    test('that is being stopped without a restart', async () => {
      const ref = await harness.givenVm('Running');
      clock.hold();
      await harness.backend.require('power').apply(ref, 'stop');
      expect(await hardware().plan(ref, change)).toMatchObject({ effect: 'next-start', refusals: [] });
      const applied = hardware().apply(ref, change);
      clock.release();
      expect(await applied).toEqual({ effect: 'next-start' });
      await harness.recorder.untilVm(ref, ({ status, cpu }) => status === 'Stopped' && cpu === 2);
    });

    test('that is being restarted not at all', async () => {
      const ref = await harness.givenVm('Running');
      clock.hold();
      await harness.backend.require('power').apply(ref, 'restart');
      await expect(hardware().apply(ref, change)).rejects.toMatchObject({ code: 'BUSY' });
      expect(machine(ref).spec.template.spec.domain.cpu?.sockets).not.toBe(2);
      clock.release();
    });
  });

  describe('patches', () => {
    test('only the sockets and the memory of a VM', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      const before = structuredClone(machine(ref).spec);
      await hardware().apply(ref, { kind: 'scale', cpu: 3, memoryBytes: 3 * GIB, restart: true });
      before.template.spec.domain.cpu!.sockets = 3;
      before.template.spec.domain.memory!.guest = '3Gi';
      expect(machine(ref).spec).toEqual(before);
    });

    test('the maximum of a VM that has one, together with the size', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      edit(ref, ({ domain }) => {
        domain.cpu!.maxSockets = 2;
        domain.memory!.maxGuest = '2Gi';
      });
      await hardware().apply(ref, { kind: 'scale', cpu: 4, memoryBytes: 4 * GIB, restart: true });
      expect(machine(ref).spec.template.spec.domain).toMatchObject({
        cpu: { sockets: 4, maxSockets: 16 },
        memory: { guest: '4Gi', maxGuest: '16Gi' },
      });
      await hardware().apply(ref, { kind: 'scale', memoryBytes: 512 * MIB, restart: true });
      expect(machine(ref).spec.template.spec.domain.memory).toEqual({ guest: '512Mi' });
    });

    test('nothing of a VM that another client changes all the time', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      await Promise.all([
        hardware().apply(ref, { kind: 'scale', cpu: 2, restart: true }),
        hardware().apply(ref, { kind: 'scale', memoryBytes: 2 * GIB, restart: true }),
      ]);
      expect(await hardware().read(ref)).toMatchObject({ cpu: 2, memoryBytes: 2 * GIB });
    });
  });

  test('refuses every change while the VM migrates', async () => {
    await open({ simulation: { timeScale: 0 } });
    const ref = await harness.givenVm('Running');
    harness.simulation.faults.inject('migration-stuck', ref);
    const work = await harness.backend.require('migration').migrate(ref);
    const abort = new AbortController();
    const following = work({ step: () => 0, log: () => 0, progress: () => 0, signal: abort.signal }).catch(() => 0);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Migrating');
    for (const change of [
      { kind: 'scale', cpu: 2, restart: true },
      { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } },
      { kind: 'add-nic', nic: 'lan', network: 'lan-1' },
    ] as const) {
      expect((await hardware().plan(ref, change)).refusals).toMatchObject([{ code: 'BUSY' }]);
      await expect(hardware().apply(ref, change)).rejects.toMatchObject({ code: 'BUSY' });
    }
    abort.abort();
    await following;
  });

  test('refuses another size for a VM with an instancetype', async () => {
    await open();
    const ref = harness.freshRef();
    const size = { cpu: 1, memoryBytes: GIB, diskBytes: GIB, instancetype: 'u1.small' };
    const source = await harness.quickSource();
    await harness.backend.require('provisioning').create({ ref, source, ...size, start: false });
    const { refusals } = await hardware().plan(ref, { kind: 'scale', cpu: 4, restart: true });
    expect(refusals).toMatchObject([{ code: 'WRONG_STATE', reason: expect.stringContaining('u1.small') }]);
  });

  describe('a new disk', () => {
    test('belongs to its VM until it is detached, and is hot-pluggable on 1.9', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      const { volume = '' } = await hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } });
      const { volumes, domain } = machine(ref).spec.template.spec;
      expect(volumes).toContainEqual({ name: volume, dataVolume: { name: volume, hotpluggable: true } });
      expect(domain.devices.disks).toContainEqual(expect.objectContaining({ name: volume, disk: { bus: 'scsi' } }));
      const labels = () => listed(DATA_VOLUMES).find(({ metadata }) => metadata.name === volume)?.metadata.labels;
      expect(labels()).toEqual({ 'svc.dev/vm': ref.name });
      await hardware().apply(ref, { kind: 'detach-volume', volume, deleteVolume: false });
      expect(labels() ?? {}).toEqual({});
    });

    test('is deleted again when it can not be attached', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      harness.sandbox.admission.addValidating({
        name: 'refuse-disks',
        resources: [VMS],
        operations: ['UPDATE'],
        admit: ({ object }: { object: unknown }) => {
          if (JSON.stringify(object).includes('-disk-')) throw new Error('no disks here');
        },
      } as never);
      const attach = hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } });
      await expect(attach).rejects.toThrow();
      expect(listed(DATA_VOLUMES)).toEqual([]);
    });

    test('that an earlier service has left behind is deleted with the next one', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      const leftover = (name: string, vm: string, since: string): void =>
        void store().create(
          DATA_VOLUMES as never,
          {
            apiVersion: 'cdi.kubevirt.io/v1beta1',
            kind: 'DataVolume',
            metadata: {
              ...keyOf(ref),
              name,
              labels: { 'svc.dev/vm': vm },
              annotations: { 'svc.dev/attaching': since },
            },
            spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '1Gi' } } } },
          } as never,
        );
      leftover('old', ref.name, '2020-01-01T00:00:00.000Z');
      leftover('of-another', 'another', '2020-01-01T00:00:00.000Z');
      leftover('new', ref.name, new Date().toISOString());
      const { volume } = await hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } });
      const names = listed(DATA_VOLUMES).map(({ metadata }) => metadata.name);
      expect(names.sort()).toEqual(['new', 'of-another', volume].sort());
    });

    test('is never a claim of another namespace', async () => {
      await open();
      const ref = await harness.givenVm('Stopped');
      store().create(
        CLAIMS as never,
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { namespace: 'default', name: 'secret-disk' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        } as never,
      );
      for (const volume of ['secret-disk', 'default/secret-disk', '../default/secret-disk']) {
        const { refusals } = await hardware().plan(ref, { kind: 'attach-volume', disk: { volume } });
        expect(refusals).toMatchObject([{ code: 'VOLUME_NOT_FOUND' }]);
      }
    });
  });

  test('refuses to expand a disk whose storage class does not permit it', async () => {
    await open({ simulation: { cluster: { defaultStorageClass: 'local-path' } } });
    const ref = await harness.givenVm('Stopped');
    const { volume = '' } = await hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } });
    const { refusals } = await hardware().plan(ref, { kind: 'expand-volume', volume, sizeBytes: GIB });
    expect(refusals).toMatchObject([{ code: 'NOT_SUPPORTED', reason: expect.stringContaining('local-path') }]);
  });

  test('keeps the pod network of a VM that has no NIC of its own', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    await harness.givenNetworks();
    store().patch(VMS as never, keyOf(ref), (vm: unknown) => {
      const { spec } = (vm as Machine).spec.template as unknown as { spec: Record<string, unknown> };
      delete spec['networks'];
      delete (spec['domain'] as { devices: Record<string, unknown> }).devices['interfaces'];
    });
    await hardware().apply(ref, { kind: 'add-nic', nic: 'lan', network: 'lan-1' });
    expect((await hardware().read(ref)).nics.map(({ name, network }) => [name, network])).toEqual([
      ['default', 'pod'],
      ['lan', 'lan-1'],
    ]);
  });

  test('has changed a VM whose guest ends before the migration that would apply the change', async () => {
    await open();
    const ref = await harness.givenVm('Running');
    await harness.givenNetworks();
    const add = { kind: 'add-nic', nic: 'lan', network: 'lan-1' } as const;
    expect(await hardware().plan(ref, add)).toMatchObject({ effect: 'now' });
    harness.sandbox.faults.refuseAdmission(
      { resource: 'virtualmachineinstancemigrations.kubevirt.io', verb: 'create' },
      'migration-create-validator.kubevirt.io',
      { message: 'Cannot migrate VMI in finalized state.' },
    );
    await hardware().apply(ref, add);
    expect((await hardware().read(ref)).nics.map(({ name }) => name)).toContain('lan');
  });

  describe('while changes of a running VM wait for its restart', () => {
    let ref: InstanceRef;
    let clock: PauseCounter;
    const bootFrom = (...devices: string[]) => hardware().apply(ref, { kind: 'set-boot-order', devices });

    beforeEach(async () => {
      clock = new PauseCounter();
      await open({ backend: { clock } });
      ref = await harness.givenVm('Running');
    });

    test('adds and removes disks at the next start', async () => {
      const { volume = '' } = await hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } });
      await bootFrom('default');
      const detach = { kind: 'detach-volume', volume } as const;
      expect(await hardware().plan(ref, { ...detach, deleteVolume: true })).toMatchObject({
        refusals: [{ code: 'WRONG_STATE', reason: expect.stringContaining('until it stops') }],
      });
      const attach = { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } } as const;
      expect(await hardware().plan(ref, attach)).toMatchObject({
        effect: 'next-start',
        warnings: [expect.stringContaining('wait for a restart')],
      });
      expect(await hardware().apply(ref, { ...detach, deleteVolume: false })).toMatchObject({ effect: 'next-start' });
      expect(live(ref).spec.volumes?.map(({ name }) => name)).toContain(volume);
    });

    test('does not wait for a restart that is no longer required', async () => {
      const before = machine(ref).spec.template.spec.domain.devices.disks?.[0]?.name ?? '';
      await bootFrom('default');
      const { pausesMs } = clock;
      await bootFrom(before);
      expect((await hardware().read(ref)).pending).toEqual([]);
      // The wait for a condition that never comes has pauses of 10 seconds.
      expect(clock.pausesMs - pausesMs).toBeLessThan(5_000);
    });
  });
});

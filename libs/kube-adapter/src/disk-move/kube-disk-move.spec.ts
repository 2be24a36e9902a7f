import { buffer } from 'node:stream/consumers';
import { ServiceShutdown, SystemClock, type InstanceRef, type TaskReporter } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { recordingReporter } from '@headgate/testing';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const VMS = 'virtualmachines.kubevirt.io';
const VMIS = 'virtualmachineinstances.kubevirt.io';
const MIGRATIONS = 'virtualmachineinstancemigrations.kubevirt.io';
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';
const CLAIMS = 'persistentvolumeclaims';
const NODES = [{ name: 'node-a' }, { name: 'node-b' }];
const MOVE = 'svc.dev/disk-move';

interface Volume {
  readonly name: string;
  readonly dataVolume?: { readonly name: string; readonly hotpluggable?: boolean };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

interface Machine {
  readonly metadata: { readonly uid: string; readonly annotations?: Record<string, string> };
  readonly spec: {
    updateVolumesStrategy?: string;
    runStrategy?: string;
    readonly dataVolumeTemplates?: readonly { readonly metadata: { readonly name: string }; readonly spec: object }[];
    readonly template: { readonly spec: { volumes: Volume[]; domain: { devices: { disks: object[] } } } };
  };
  status?: Record<string, unknown>;
}

interface Live {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly volumes?: readonly Volume[] };
  readonly status?: {
    readonly migratedVolumes?: unknown;
    readonly volumeStatus?: readonly { readonly hotplugVolume?: object; readonly phase?: string }[];
  };
}

/** A clock on which time passes faster than its timers. */
class HastyClock extends SystemClock {
  override now(): number {
    return super.now() * 20;
  }
}

class CountingClock extends HastyClock {
  delays = 0;

  override delay(ms: number, signal?: AbortSignal): Promise<void> {
    this.delays++;
    return super.delay(ms, signal);
  }
}

describe('moving the disk of a VM in a cluster', () => {
  let harness: SandboxHarness;
  let fast: string;

  const open = async (options: SandboxHarnessOptions = {}): Promise<void> => {
    const simulation = { ...options.simulation, cluster: { nodes: NODES, ...options.simulation?.cluster } };
    harness = await SandboxHarness.open({ ...options, simulation });
    fast = await harness.givenStorage();
  };
  afterEach(() => harness.close());

  const moves = () => harness.backend.require('diskMove');
  const store = () => harness.sandbox.store;
  const keyOf = ({ name }: InstanceRef) => ({ namespace: NAMESPACE, name });
  const machine = (ref: InstanceRef): Machine => store().get(VMS, keyOf(ref)) as never;
  const live = (ref: InstanceRef): Live | undefined => store().get(VMIS, keyOf(ref)) as never;
  const names = (resource: string): string[] =>
    store()
      .list(resource, { namespace: NAMESPACE })
      .map(({ metadata }) => metadata.name)
      .sort();
  const claimOf = (volumes: readonly Volume[] | undefined): string | undefined =>
    volumes?.[0]?.dataVolume?.name ?? volumes?.[0]?.persistentVolumeClaim?.claimName;
  const classOf = (name: string | undefined): unknown =>
    (
      store().get(CLAIMS, { namespace: NAMESPACE, name: name ?? '' }) as
        { spec?: { storageClassName?: string } } | undefined
    )?.spec?.storageClassName;

  const runningVm = async (): Promise<InstanceRef> => {
    const ref = await harness.givenVmWithDisk();
    await harness.backend.require('power').apply(ref, 'start');
    await harness.becomes(ref, 'Running');
    return ref;
  };
  /** Waits until all hot-plugged disks are usable. */
  const untilAttached = (ref: InstanceRef): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      const hotplugged = live(ref)?.status?.volumeStatus?.filter(({ hotplugVolume }) => hotplugVolume) ?? [];
      if (hotplugged.length > 0 && hotplugged.every(({ phase }) => phase === 'Ready')) resolve();
    };
    const unsubscribe = store().subscribe(VMIS, check);
    check();
    return promise.finally(unsubscribe);
  };
  const volumeOf = (ref: InstanceRef): string => claimOf(machine(ref).spec.template.spec.volumes) ?? '';
  const move = async (ref: InstanceRef, report: TaskReporter = recordingReporter()): Promise<void> => {
    const work = await moves().move(ref, { volume: volumeOf(ref), storage: fast });
    await work(report);
  };
  /** A reporter whose signal is aborted when the migration of the VM copies its disk. */
  const abortsWhileCopying = (ref: InstanceRef, reason: Error): TaskReporter => {
    const controller = new AbortController();
    harness.simulation.faults.inject('migration-stuck', keyOf(ref));
    store().subscribe(MIGRATIONS, ({ object }) => {
      if ((object as { status?: { phase?: string } }).status?.phase === 'Running') controller.abort(reason);
    });
    return recordingReporter(controller.signal);
  };
  const content = async (ref: InstanceRef): Promise<string> =>
    (
      await buffer(await harness.backend.require('diskExport').open(ref, 'raw.gz', new AbortController().signal))
    ).toString('base64');
  const stop = async (ref: InstanceRef): Promise<void> => {
    await harness.backend.require('power').apply(ref, 'stop');
    await harness.becomes(ref, 'Stopped');
  };

  test('keeps its bytes, deletes the old volume, and touches no other VM', async () => {
    await open();
    const other = await runningVm();
    const untouched = structuredClone(machine(other).spec);
    const ref = await harness.givenVmWithDisk();
    const before = await content(ref);
    await harness.backend.require('power').apply(ref, 'start');
    await harness.becomes(ref, 'Running');
    const old = volumeOf(ref);
    await move(ref);
    const moved = volumeOf(ref);
    expect([moved, classOf(moved)]).toEqual([expect.stringMatching(`^${ref.name}-disk-`), fast]);
    expect(machine(ref).spec.dataVolumeTemplates).toMatchObject([
      { metadata: { name: moved }, spec: { storage: { storageClassName: fast } } },
    ]);
    expect(names(DATA_VOLUMES)).not.toContain(old);
    expect(
      store().get(DATA_VOLUMES, { namespace: NAMESPACE, name: moved })?.metadata.annotations?.[MOVE],
    ).toBeUndefined();
    expect(machine(other).spec).toEqual(untouched);
    expect(names(DATA_VOLUMES)).toContain(volumeOf(other));
    await stop(ref);
    expect(await content(ref)).toBe(before);
    await harness.backend.require('power').apply(ref, 'start');
    await harness.becomes(ref, 'Running');
    expect(claimOf(live(ref)?.spec.volumes)).toBe(moved);
  });

  test('keeps a claim that was not created for the VM', async () => {
    await open();
    const donor = await harness.givenVmWithDisk();
    const claim = 'their-data';
    store().create(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: claim, namespace: NAMESPACE },
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        storageClassName: 'ceph-block',
        resources: { requests: { storage: '1Gi' } },
      },
    } as never);
    const ref = harness.freshRef();
    const size = { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3 };
    await harness.backend.require('provisioning').create({ ref, source: { kind: 'pvc', claim }, ...size, start: true });
    await harness.becomes(ref, 'Running');
    const { warnings } = await moves().plan(ref, { volume: claim, storage: fast });
    expect(warnings).toEqual([expect.stringContaining(`${claim} was not created for ${ref.name}`)]);
    await move(ref);
    expect(volumeOf(ref)).not.toBe(claim);
    expect(names(CLAIMS)).toEqual(expect.arrayContaining([claim, volumeOf(ref), volumeOf(donor)]));
    await harness.backend.require('provisioning').delete(ref);
    await harness.recorder.until(() => harness.recorder.vm(ref) === undefined);
    expect(names(CLAIMS)).toContain(claim);
  });

  describe('leaves the VM as it was, and nothing in the other class,', () => {
    let ref: InstanceRef;
    let before: unknown;
    const state = () => {
      const { updateVolumesStrategy: _strategy, ...spec } = machine(ref).spec;
      return { spec, dataVolumes: names(DATA_VOLUMES), guest: live(ref)?.metadata.uid };
    };
    const begin = async (options?: SandboxHarnessOptions): Promise<void> => {
      await open(options);
      ref = await runningVm();
      before = structuredClone(state());
    };

    test.each([
      ['with migrations of the cluster', { workloadUpdateMethods: ['LiveMigrate'] }],
      ['with a migration of its own', {}],
    ])('when the migration fails, %s', async (_case, cluster) => {
      await begin({ simulation: { cluster } });
      harness.simulation.faults.inject('migration-failure', keyOf(ref));
      await expect(move(ref)).rejects.toMatchObject({
        code: 'BACKEND_FAILED',
        message: expect.stringContaining('source node reported migration failed'),
      });
      expect(state()).toEqual(before);
      expect(claimOf(live(ref)?.spec.volumes)).toBe(volumeOf(ref));
      harness.simulation.faults.clear('migration-failure', keyOf(ref));
      await move(ref);
      expect(classOf(volumeOf(ref))).toBe(fast);
    });

    test('when it is canceled while the disk is copied', async () => {
      await begin();
      await expect(move(ref, abortsWhileCopying(ref, new Error('canceled')))).rejects.toThrow('canceled');
      expect(state()).toEqual(before);
      expect(machine(ref).status?.['volumeUpdateState']).toEqual({});
    });

    test('when the volumes of the class can not be filled by a migration', async () => {
      await begin();
      const work = await moves().move(ref, { volume: volumeOf(ref), storage: 'local-path' });
      await expect(work(recordingReporter())).rejects.toMatchObject({
        code: 'NOT_SUPPORTED',
        message: expect.stringContaining('local-path'),
      });
      expect(state()).toEqual(before);
    });

    test('when the service was killed before it changed the VM', async () => {
      await begin();
      const record = {
        instance: live(ref)?.metadata.uid,
        storage: fast,
        volume: machine(ref).spec.template.spec.volumes[0],
      };
      store().create(DATA_VOLUMES, {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'DataVolume',
        metadata: {
          name: 'half-done',
          namespace: NAMESPACE,
          labels: { 'svc.dev/vm': ref.name },
          annotations: { [MOVE]: JSON.stringify(record) },
        },
        spec: {
          source: { blank: {} },
          storage: { storageClassName: fast, resources: { requests: { storage: '1Gi' } } },
        },
      } as never);
      const work = await moves().resume(ref, { volume: volumeOf(ref), storage: fast });
      await expect(work(recordingReporter())).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
      expect(state()).toEqual(before);
    });
  });

  test('shows why no node can run the target, and continues once one can', async () => {
    await open({ simulation: { timings: { migrationUnschedulableTimeout: 1e9 }, timeScale: 0.001 } });
    const ref = await runningVm();
    const cordon = (unschedulable: boolean): void => {
      for (const { name } of NODES)
        store().patch<KubeObject & { spec?: object }>(
          'nodes',
          { name },
          (node) => void (node.spec = { unschedulable }),
        );
    };
    const recorded = recordingReporter();
    const waitsFor = (subject: string): void => {
      recorded.waits.push(subject);
      if (subject.includes('no node')) cordon(false);
    };
    const work = await moves().move(ref, { volume: volumeOf(ref), storage: fast });
    store().subscribe(MIGRATIONS, ({ type }) => type === 'ADDED' && cordon(true));
    await work({ ...recorded, waitsFor });
    expect(recorded.waits[0]).toMatch(
      /^the copy of the disk: no node can run its target pod \S+: 0\/2 nodes .* unschedulable$/,
    );
    expect(recorded.lines).toContainEqual(expect.stringMatching(/^vm-1: no node can run its target pod/));
    expect(classOf(volumeOf(ref))).toBe(fast);
  });

  test('lets a VM that was stopped during the copy start with its old disk', async () => {
    await open();
    const ref = await runningVm();
    const old = volumeOf(ref);
    harness.simulation.faults.inject('migration-stuck', keyOf(ref));
    let stopped: Promise<void> | undefined;
    store().subscribe(MIGRATIONS, ({ object }) => {
      if ((object as { status?: { phase?: string } }).status?.phase === 'Running')
        stopped ??= harness.backend.require('power').apply(ref, 'stop', { force: true });
    });
    await expect(move(ref)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await stopped;
    expect(volumeOf(ref)).toBe(old);
    expect(names(DATA_VOLUMES)).toEqual([old]);
    await harness.becomes(ref, 'Stopped');
    await harness.backend.require('power').apply(ref, 'start');
    await harness.becomes(ref, 'Running');
    expect(claimOf(live(ref)?.spec.volumes)).toBe(old);
  });

  test('is completed after a restart of the service that interrupted the copy', async () => {
    await open();
    const ref = await runningVm();
    const old = volumeOf(ref);
    await expect(move(ref, abortsWhileCopying(ref, new ServiceShutdown('shutdown')))).rejects.toThrow('shutdown');
    expect(names(DATA_VOLUMES)).toHaveLength(2);
    harness.simulation.faults.clear('migration-stuck', keyOf(ref));
    const work = await moves().resume(ref, { volume: old, storage: fast });
    await work(recordingReporter());
    expect(classOf(volumeOf(ref))).toBe(fast);
    expect(names(DATA_VOLUMES)).toEqual([volumeOf(ref)]);
  });

  test('is completed after a restart of the service for a VM that was restarted since the cluster has copied its disk', async () => {
    await open();
    const ref = await runningVm();
    const old = volumeOf(ref);
    await expect(move(ref, abortsWhileCopying(ref, new ServiceShutdown('shutdown')))).rejects.toThrow('shutdown');
    const moved = volumeOf(ref);
    const { uid } = live(ref)!.metadata;
    harness.simulation.faults.clear('migration-stuck', keyOf(ref));
    await harness.recorder.until(
      () => live(ref)?.status?.migratedVolumes === undefined && machine(ref).status?.['printableStatus'] === 'Running',
    );
    await harness.backend.require('power').apply(ref, 'restart', { force: true });
    const isNext = (): boolean => ![uid, undefined].includes(live(ref)?.metadata.uid);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running' && isNext());
    const work = await moves().resume(ref, { volume: old, storage: fast });
    await work(recordingReporter());
    expect([volumeOf(ref), names(DATA_VOLUMES)]).toEqual([moved, [moved]]);
    expect(claimOf(live(ref)?.spec.volumes)).toBe(moved);
  });

  test('keeps both volumes when nothing shows which of them is complete, and waits for that only once', async () => {
    const clock = new CountingClock();
    await open({ backend: { clock } });
    const ref = await runningVm();
    const old = volumeOf(ref);
    await expect(move(ref, abortsWhileCopying(ref, new ServiceShutdown('shutdown')))).rejects.toThrow('shutdown');
    const both = names(DATA_VOLUMES);
    const moved = volumeOf(ref);
    // As if KubeVirt had never reported the migration, and its objects were gone.
    await stop(ref);
    for (const name of names(MIGRATIONS)) store().delete(MIGRATIONS, { namespace: NAMESPACE, name });
    store().patch(VMS as never, keyOf(ref), (vm: unknown) => {
      const { status = {} } = vm as Machine;
      const conditions = status['conditions'] as { type: string }[];
      status['conditions'] = conditions.filter(({ type }) => !/VolumesChange|ManualRecovery/.test(type));
      delete status['volumeUpdateState'];
    });
    const doubtful = {
      code: 'WRONG_STATE',
      message: expect.stringContaining('nothing shows whether the copy is complete'),
    };
    const work = await moves().resume(ref, { volume: old, storage: fast });
    await expect(work(recordingReporter())).rejects.toMatchObject(doubtful);
    const { delays } = clock;
    const again = await moves().resume(ref, { volume: old, storage: fast });
    await expect(again(recordingReporter())).rejects.toMatchObject(doubtful);
    expect([clock.delays, volumeOf(ref), names(DATA_VOLUMES)]).toEqual([delays, moved, both]);
  });

  test('keeps an old volume that another VM uses by then', async () => {
    await open();
    const ref = await runningVm();
    const old = volumeOf(ref);
    await expect(move(ref, abortsWhileCopying(ref, new ServiceShutdown('shutdown')))).rejects.toThrow('shutdown');
    const other = await harness.givenVm('Stopped');
    store().patch(VMS as never, keyOf(other), (vm: unknown) => {
      const { spec } = (vm as Machine).spec.template;
      spec.volumes = [{ name: 'root', persistentVolumeClaim: { claimName: old } }];
    });
    harness.simulation.faults.clear('migration-stuck', keyOf(ref));
    const work = await moves().resume(ref, { volume: old, storage: fast });
    const report = recordingReporter();
    await work(report);
    expect(report.lines).toContain(`The old volume ${old} is kept.`);
    expect(names(DATA_VOLUMES)).toEqual([volumeOf(ref), old].sort());
  });

  test('delays new disks until the next start where the VM describes them, as KubeVirt would ignore them', async () => {
    await open();
    const ref = await runningVm();
    await move(ref);
    const hardware = harness.backend.require('hardware');
    const attach = { kind: 'attach-volume', disk: { sizeBytes: 1024 ** 3 } } as const;
    expect(await hardware.plan(ref, attach)).toMatchObject({
      effect: 'next-start',
      warnings: [expect.stringContaining('A disk of the VM was moved while it ran')],
    });
    await stop(ref);
    await harness.backend.require('power').apply(ref, 'start');
    await harness.becomes(ref, 'Running');
    expect(await hardware.apply(ref, attach)).toMatchObject({ effect: 'now' });
    expect(machine(ref).spec.updateVolumesStrategy).toBeUndefined();
    expect(live(ref)?.spec.volumes).toHaveLength(2);
  });

  describe('is refused', () => {
    const refusals = async (ref: InstanceRef, volume = volumeOf(ref), storage = fast): Promise<string[]> =>
      (await moves().plan(ref, { volume, storage })).refusals.map(({ code }) => code);
    const edit = (ref: InstanceRef, change: (vm: Machine) => void): void =>
      void store().patch(VMS as never, keyOf(ref), (vm: unknown) => change(vm as Machine));

    test('for a container disk', async () => {
      await open();
      const ref = await harness.givenVm('Running');
      expect(await refusals(ref, 'root')).toEqual(['NOT_SUPPORTED']);
    });

    test('during a snapshot, a restore, a migration or another move', async () => {
      await open();
      const ref = await runningVm();
      for (const field of ['snapshotInProgress', 'restoreInProgress']) {
        store().patch(VMS as never, keyOf(ref), (vm: unknown) => {
          const draft = vm as Machine;
          draft.status = { ...draft.status, [field]: 'nightly' };
        });
        expect(await refusals(ref)).toEqual(['BUSY']);
        store().patch(VMS as never, keyOf(ref), (vm: unknown) => {
          delete (vm as Machine).status?.[field];
        });
      }
      const report = abortsWhileCopying(ref, new Error('canceled'));
      const work = await moves().move(ref, { volume: volumeOf(ref), storage: fast });
      let duringMove: Promise<string[]> | undefined;
      let migration: Promise<unknown> | undefined;
      report.signal.addEventListener('abort', () => {
        duringMove = refusals(ref);
        migration = harness.backend
          .require('migration')
          .migrate(ref)
          .catch((error: unknown) => error);
      });
      await expect(work(report)).rejects.toThrow('canceled');
      expect(await duringMove).toContain('BUSY');
      expect(await migration).toMatchObject({ code: 'BUSY' });
    });

    test('without another node for the guest', async () => {
      await open({ simulation: { cluster: { nodes: [{ name: 'node-a' }] } } });
      expect(await refusals(await runningVm())).toEqual(['WRONG_STATE']);
    });

    test('without a node that has the machine of the guest', async () => {
      await open();
      const ref = await runningVm();
      const label = 'machine-type.node.kubevirt.io/pc-q35-rhel9.6.0';
      for (const { name } of NODES)
        store().patch('nodes', { name }, ({ metadata }) => void delete metadata.labels![label]);
      expect((await moves().plan(ref, { volume: volumeOf(ref), storage: fast })).refusals).toEqual([
        {
          code: 'WRONG_STATE',
          reason: expect.stringMatching(`^A disk is copied by a migration.*lacks the label ${label}`),
          remedy: expect.stringContaining('machine type'),
        },
      ]);
    });

    test('for disks that KubeVirt does not copy', async () => {
      await open();
      const ref = await runningVm();
      const volume = volumeOf(ref);
      const vmi = (change: (disk: Record<string, unknown>) => void): void =>
        void store().patch(VMIS as never, keyOf(ref), (draft: unknown) => {
          for (const disk of (draft as Machine['spec']['template']).spec.domain.devices.disks) change(disk as never);
        });
      vmi((disk) => void (disk['shareable'] = true));
      expect(await refusals(ref, volume)).toEqual(['NOT_SUPPORTED']);
      vmi((disk) => {
        delete disk['shareable'];
        disk['lun'] = { bus: 'scsi' };
        delete disk['disk'];
      });
      expect(await refusals(ref, volume)).toEqual(['NOT_SUPPORTED']);
    });

    test('next to another disk that only one node can use', async () => {
      await open({ simulation: { cluster: { defaultStorageClass: 'topolvm' } } });
      const ref = await runningVm();
      await stop(ref);
      await harness.backend.require('hardware').apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 1024 ** 3 } });
      await harness.backend.require('power').apply(ref, 'start');
      await harness.becomes(ref, 'Running');
      await untilAttached(ref);
      expect(await refusals(ref)).toEqual(['NOT_SUPPORTED']);
    });

    test('while another disk is being attached', async () => {
      await open();
      const ref = await runningVm();
      // It stays pending, because its claim does not exist.
      store().patch(VMIS as never, keyOf(ref), (vmi: unknown) => {
        const { spec, status } = vmi as { spec: { volumes: object[] }; status: { volumeStatus: object[] } };
        spec.volumes.push({ name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } });
        status.volumeStatus.push({ name: 'data', target: '', phase: 'Pending', hotplugVolume: {} });
      });
      expect(await refusals(ref)).toEqual(['BUSY']);
    });

    test('while changes wait for a restart', async () => {
      await open();
      const ref = await runningVm();
      edit(ref, (vm) => void Object.assign(vm.spec.template.spec, { hostname: 'another' }));
      await harness.recorder.untilVm(ref, ({ restartRequired }) => restartRequired);
      expect(await refusals(ref)).toEqual(['WRONG_STATE']);
    });

    test('after a move of another program that needs a manual recovery', async () => {
      await open();
      const ref = await runningVm();
      edit(ref, (vm) => {
        const conditions = [...((vm.status?.['conditions'] as object[] | undefined) ?? [])];
        vm.status = { ...vm.status, conditions: [...conditions, { type: 'ManualRecoveryRequired', status: 'True' }] };
      });
      const plan = await moves().plan(ref, { volume: volumeOf(ref), storage: fast });
      expect(plan.refusals).toMatchObject([{ code: 'WRONG_STATE', remedy: expect.stringContaining('old volume') }]);
    });
  });

  test('works with a disk that only one node can use', async () => {
    await open({ simulation: { cluster: { defaultStorageClass: 'topolvm' } } });
    const ref = await runningVm();
    const old = volumeOf(ref);
    await move(ref);
    expect(classOf(volumeOf(ref))).toBe(fast);
    expect(names(DATA_VOLUMES)).not.toContain(old);
  });
});

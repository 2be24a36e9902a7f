import {
  DomainError,
  formatRef,
  type Backend,
  type HardwareChange,
  type HardwareDisk,
  type HardwareResult,
  type InstanceHardware,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { MEMORY_NETWORKS } from '../memory-backend/memory-instances.js';
import { contractTests } from './contract-tests.js';

export interface HardwareContractOptions {
  /**
   * The memory of a VM that can be scaled, in MiB, at least three times that of the smallest VM of the harness.
   * Default: 1536.
   */
  readonly memoryMib?: number;
  /** Whether a host reserves CPUs for single VMs, on engines whose hosts do that. Default: true. */
  readonly reservesCpus?: boolean;
  /** Whether NICs can be added and removed while the VM runs. Default: true. */
  readonly hotplugsNics?: boolean;
}

const MIB = 1024 ** 2;

/** The rules for every `InstanceHardware`. */
export function instanceHardwareContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, memoryMib = 1536, hotplugsNics = true }: ContractOptions & HardwareContractOptions = {},
): void {
  describe(`InstanceHardware, ${adapter}`, () => {
    let harness: BackendHarness;
    let hardware: InstanceHardware;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    /** Two networks that a NIC can be attached to. */
    let networks: readonly [string, string];

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      hardware = harness.backend.require('hardware');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
      networks = (await harness.givenNetworks?.()) ?? MEMORY_NETWORKS;
    });

    const disksOf = async (ref: InstanceRef): Promise<HardwareDisk[]> =>
      (await hardware.read(ref)).disks.filter(({ type, isRoot }) => type === 'disk' && !isRoot);
    const sizeOf = async (ref: InstanceRef, volume: string): Promise<number | null | undefined> =>
      (await disksOf(ref)).find((disk) => disk.volume === volume)?.sizeBytes;
    const addDisk = async (ref: InstanceRef, sizeBytes = 64 * MIB): Promise<string> => {
      const { volume = '' } = await hardware.apply(ref, { kind: 'attach-volume', disk: { sizeBytes } });
      expect(volume).not.toBe('');
      return volume;
    };
    const detach = (ref: InstanceRef, volume: string, deleteVolume: boolean): Promise<HardwareResult> =>
      hardware.apply(ref, { kind: 'detach-volume', volume, deleteVolume });
    /** Some engines migrate a running VM to apply a change to it, and refuse the next change until that is done. */
    const applyWhenIdle = async (ref: InstanceRef, change: HardwareChange): Promise<HardwareResult> => {
      for (;;) {
        const seen = recorder.calls.length;
        try {
          return await hardware.apply(ref, change);
        } catch (error) {
          if (!DomainError.is(error, 'BUSY')) throw error;
          await recorder.until(() => recorder.calls.includes(`changed ${formatRef(ref)}`, seen));
        }
      }
    };
    /** Checks that a change is refused in the plan and by `apply`, and that nothing has changed. */
    const refuses = async (ref: InstanceRef, change: HardwareChange, code: string): Promise<void> => {
      const before = await hardware.read(ref);
      const { refusals } = await hardware.plan(ref, change);
      expect(refusals.map((one) => one.code)).toContain(code);
      for (const { reason, remedy } of refusals) expect([reason, remedy]).not.toContain('');
      await expect(hardware.apply(ref, change)).rejects.toMatchObject({ code: refusals[0]?.code });
      expect(await hardware.read(ref)).toEqual(before);
    };

    inTime('reads the size of a VM, and the disk that it boots from', async () => {
      const vm = await harness.givenVm('Stopped');
      const { cpu, memoryBytes } = await recorder.untilVm(vm, () => true);
      const found = await hardware.read(vm);
      expect(found).toMatchObject({ cpu, memoryBytes, pending: [] });
      expect(found.disks.filter(({ isRoot }) => isRoot)).toHaveLength(1);
      expect(found.bootOrder.every((device) => typeof device === 'string')).toBe(true);
    });

    inTime('knows no VM that does not exist', async () => {
      const missing = missingRef(harness);
      const change = { kind: 'scale', cpu: 2, restart: true } as const;
      await expect(hardware.read(missing)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(hardware.plan(missing, change)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(hardware.apply(missing, change)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const ref = { ...missingRef(harness), context: unreachable.context };
      const away = unreachable.require('hardware').read(ref);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });

    inTime('plans a change step by step and changes nothing', async () => {
      const vm = await harness.givenVm('Stopped');
      const before = await hardware.read(vm);
      const change = { kind: 'scale', cpu: before.cpu + 1, restart: true } as const;
      const { steps, refusals, effect } = await hardware.plan(vm, change);
      expect(refusals).toEqual([]);
      expect(steps.length).toBeGreaterThan(0);
      expect(effect).toBe('next-start');
      expect(await hardware.read(vm)).toEqual(before);
    });

    inTime('scales a stopped VM', async () => {
      const vm = await harness.givenVm('Stopped');
      const { uid } = await recorder.untilVm(vm, () => true);
      const memoryBytes = memoryMib * MIB;
      expect(await hardware.apply(vm, { kind: 'scale', cpu: 2, memoryBytes, restart: true })).toMatchObject({
        effect: 'next-start',
      });
      expect(await hardware.read(vm)).toMatchObject({ cpu: 2, memoryBytes, pending: [] });
      const scaled = await recorder.untilVm(vm, (entry) => entry.cpu === 2 && entry.memoryBytes === memoryBytes);
      expect(scaled.uid).toBe(uid);
    });

    inTime('changes only the given fields', async () => {
      const vm = await harness.givenVm('Stopped');
      const { memoryBytes } = await hardware.read(vm);
      await hardware.apply(vm, { kind: 'scale', cpu: 2, restart: true });
      expect(await hardware.read(vm)).toMatchObject({ cpu: 2, memoryBytes });
      await hardware.apply(vm, { kind: 'scale', memoryBytes: memoryMib * MIB, restart: true });
      expect(await hardware.read(vm)).toMatchObject({ cpu: 2, memoryBytes: memoryMib * MIB });
    });

    inTime('has nothing to do for the size that a VM has', async () => {
      const vm = await harness.givenVm('Stopped');
      const { cpu, memoryBytes } = await hardware.read(vm);
      expect((await hardware.plan(vm, { kind: 'scale', cpu, memoryBytes, restart: true })).steps).toEqual([]);
      await hardware.apply(vm, { kind: 'scale', cpu, memoryBytes, restart: true });
    });

    inTime('refuses a size that is impossible, and changes nothing', async () => {
      const vm = await harness.givenVm('Stopped');
      for (const cpu of [0, -1, 1.5, 100_000])
        await refuses(vm, { kind: 'scale', cpu, restart: true }, 'INVALID_INPUT');
      for (const memoryBytes of [0, 1024, 2 ** 60]) {
        await refuses(vm, { kind: 'scale', memoryBytes, restart: true }, 'INVALID_QUANTITY');
      }
    });

    inTime('keeps the new size of a running VM for its next start, with the exact difference', async () => {
      const vm = await harness.givenVm('Running');
      const before = await hardware.read(vm);
      const smaller = Math.floor(before.memoryBytes / 2 / (2 * MIB)) * 2 * MIB;
      const change = { kind: 'scale', memoryBytes: smaller, restart: false } as const;
      expect(await hardware.plan(vm, change)).toMatchObject({ effect: 'next-start', refusals: [] });
      expect(await hardware.apply(vm, change)).toMatchObject({ effect: 'next-start' });
      const after = await hardware.read(vm);
      expect(after.memoryBytes).toBe(before.memoryBytes);
      expect(after.pending).toEqual([expect.objectContaining({ field: 'memory' })]);
      await recorder.untilVm(vm, ({ restartRequired, pendingCount }) => restartRequired && pendingCount === 1);
    });

    inTime('restarts a running VM for a size that it can not change while it runs', async () => {
      const vm = await harness.givenVm('Running', { booted: true });
      const { memoryBytes } = await hardware.read(vm);
      const smaller = Math.floor(memoryBytes / 2 / (2 * MIB)) * 2 * MIB;
      const change = { kind: 'scale', memoryBytes: smaller, restart: true } as const;
      expect(await hardware.plan(vm, change)).toMatchObject({ effect: 'restart', refusals: [] });
      expect(await hardware.apply(vm, change)).toMatchObject({ effect: 'restart' });
      await recorder.untilVm(
        vm,
        (entry) =>
          entry.status === 'Running' &&
          entry.memoryBytes === smaller &&
          !entry.restartRequired &&
          entry.pendingCount === undefined,
      );
      expect(await hardware.read(vm)).toMatchObject({ memoryBytes: smaller, pending: [] });
    });

    inTime('adds a disk, and removes it with its volume', async () => {
      const vm = await harness.givenVm('Stopped');
      expect(await disksOf(vm)).toEqual([]);
      const volume = await addDisk(vm);
      expect(await sizeOf(vm, volume)).toBe(64 * MIB);
      await detach(vm, volume, true);
      expect(await disksOf(vm)).toEqual([]);
      await refuses(vm, { kind: 'attach-volume', disk: { volume } }, 'VOLUME_NOT_FOUND');
    });

    inTime('keeps the volume of a detached disk, also when the VM is deleted', async () => {
      const vm = await harness.givenVm('Stopped');
      const other = await harness.givenVm('Stopped');
      const volume = await addDisk(vm);
      await detach(vm, volume, false);
      expect(await disksOf(vm)).toEqual([]);
      await harness.backend.require('provisioning').delete(vm);
      await recorder.until(() => recorder.vm(vm) === undefined);
      expect(await hardware.apply(other, { kind: 'attach-volume', disk: { volume } })).toMatchObject({ volume });
      expect(await sizeOf(other, volume)).toBe(64 * MIB);
      await detach(other, volume, false);
    });

    inTime('adds and removes a disk while the VM runs', async () => {
      const vm = await harness.givenVm('Running', { booted: true });
      const add = { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } } as const;
      expect(await hardware.plan(vm, add)).toMatchObject({ effect: 'now', refusals: [] });
      const volume = await addDisk(vm);
      expect(await hardware.read(vm)).toMatchObject({ pending: [] });
      expect((await disksOf(vm)).map((disk) => disk.volume)).toEqual([volume]);
      await detach(vm, volume, true);
      expect(await disksOf(vm)).toEqual([]);
      expect(await hardware.read(vm)).toMatchObject({ pending: [] });
    });

    inTime('refuses a volume that another VM uses', async () => {
      const owner = await harness.givenVm('Stopped');
      const other = await harness.givenVm('Stopped');
      const volume = await addDisk(owner);
      await refuses(other, { kind: 'attach-volume', disk: { volume } }, 'BUSY');
      await refuses(owner, { kind: 'attach-volume', disk: { volume } }, 'ALREADY_EXISTS');
      await expect(detach(other, volume, true)).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
      expect((await disksOf(owner)).map((disk) => disk.volume)).toEqual([volume]);
    });

    inTime('attaches the same volume once for two requests at the same time', async () => {
      const [one, other] = [await harness.givenVm('Stopped'), await harness.givenVm('Stopped')];
      const volume = await addDisk(one);
      await detach(one, volume, false);
      const results = await Promise.allSettled(
        [one, other].map((vm) => hardware.apply(vm, { kind: 'attach-volume', disk: { volume } })),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    inTime('refuses a disk without a size, a volume that does not exist, and one outside of its reach', async () => {
      const vm = await harness.givenVm('Stopped');
      for (const sizeBytes of [0, -1, 2 ** 60]) {
        await refuses(vm, { kind: 'attach-volume', disk: { sizeBytes } }, 'INVALID_QUANTITY');
      }
      for (const volume of ['no-such-volume', '../../etc/passwd', '/etc/passwd', 'other/../passwd', '']) {
        await refuses(vm, { kind: 'attach-volume', disk: { volume } }, 'VOLUME_NOT_FOUND');
        await refuses(vm, { kind: 'detach-volume', volume, deleteVolume: true }, 'DEVICE_NOT_FOUND');
        await refuses(vm, { kind: 'expand-volume', volume, sizeBytes: 64 * MIB }, 'DEVICE_NOT_FOUND');
      }
    });

    inTime('refuses to detach the disk that the VM boots from', async () => {
      const vm = await harness.givenVm('Stopped');
      const root = (await hardware.read(vm)).disks.find(({ isRoot }) => isRoot);
      const volume = root?.volume ?? root?.device ?? '';
      await refuses(vm, { kind: 'detach-volume', volume, deleteVolume: false }, 'WRONG_STATE');
      await refuses(vm, { kind: 'detach-volume', volume, deleteVolume: true }, 'WRONG_STATE');
    });

    inTime('expands a disk, and never shrinks it', async () => {
      const vm = await harness.givenVm('Stopped');
      const volume = await addDisk(vm);
      await hardware.apply(vm, { kind: 'expand-volume', volume, sizeBytes: 128 * MIB });
      expect(await sizeOf(vm, volume)).toBe(128 * MIB);
      await refuses(vm, { kind: 'expand-volume', volume, sizeBytes: 64 * MIB }, 'INVALID_QUANTITY');
      await refuses(vm, { kind: 'expand-volume', volume, sizeBytes: 2 ** 60 }, 'INVALID_QUANTITY');
      const same = { kind: 'expand-volume', volume, sizeBytes: 128 * MIB } as const;
      expect((await hardware.plan(vm, same)).steps).toEqual([]);
      await hardware.apply(vm, same);
    });

    inTime('expands a disk while the VM runs', async () => {
      const vm = await harness.givenVm('Running');
      const volume = await addDisk(vm);
      const change = { kind: 'expand-volume', volume, sizeBytes: 128 * MIB } as const;
      expect(await hardware.plan(vm, change)).toMatchObject({ effect: 'now' });
      await hardware.apply(vm, change);
      expect(await sizeOf(vm, volume)).toBe(128 * MIB);
    });

    inTime('adds a NIC, changes its network and its link, and removes it', async () => {
      const vm = await harness.givenVm('Stopped');
      const mac = '52:54:00:0a:0b:0c';
      const nicOf = async () => (await hardware.read(vm)).nics.find(({ name }) => name === 'lan');
      await hardware.apply(vm, { kind: 'add-nic', nic: 'lan', network: networks[0], mac });
      expect(await nicOf()).toMatchObject({ network: networks[0], mac, isLinkUp: true });
      await hardware.apply(vm, { kind: 'change-nic', nic: 'lan', network: networks[1], isLinkUp: false });
      expect(await nicOf()).toMatchObject({ network: networks[1], mac, isLinkUp: false });
      await hardware.apply(vm, { kind: 'remove-nic', nic: 'lan' });
      expect(await nicOf()).toBeUndefined();
    });

    inTime('adds and removes a NIC while the VM runs', async () => {
      if (!hotplugsNics) return;
      const vm = await harness.givenVm('Running', { booted: true });
      const names = async () => (await hardware.read(vm)).nics.map(({ name }) => name);
      const before = await names();
      const change = { kind: 'add-nic', nic: 'lan', network: networks[0] } as const;
      expect(await hardware.plan(vm, change)).toMatchObject({ effect: 'now', refusals: [] });
      await hardware.apply(vm, change);
      expect(await names()).toEqual([...before, 'lan']);
      expect((await hardware.read(vm)).pending).toEqual([]);
      await applyWhenIdle(vm, { kind: 'remove-nic', nic: 'lan' });
      expect(await names()).toEqual(before);
    });

    inTime('refuses a NIC whose name or MAC address is taken, and a network that does not exist', async () => {
      const vm = await harness.givenVm('Stopped');
      const other = await harness.givenVm('Stopped');
      const mac = '52:54:00:0d:0e:0f';
      const [network] = networks;
      await hardware.apply(vm, { kind: 'add-nic', nic: 'lan', network, mac });
      await refuses(vm, { kind: 'add-nic', nic: 'lan', network }, 'ALREADY_EXISTS');
      await refuses(vm, { kind: 'add-nic', nic: 'lan2', network, mac: mac.toUpperCase() }, 'ALREADY_EXISTS');
      await refuses(other, { kind: 'add-nic', nic: 'lan', network, mac }, 'ALREADY_EXISTS');
      for (const unknown of ['no-such-network', '../secret', '']) {
        await refuses(vm, { kind: 'add-nic', nic: 'lan2', network: unknown }, 'INVALID_INPUT');
        await refuses(vm, { kind: 'change-nic', nic: 'lan', network: unknown }, 'INVALID_INPUT');
      }
      await refuses(vm, { kind: 'change-nic', nic: 'wan', isLinkUp: false }, 'DEVICE_NOT_FOUND');
      await refuses(vm, { kind: 'remove-nic', nic: 'wan' }, 'DEVICE_NOT_FOUND');
    });

    inTime('boots from the devices in the given order', async () => {
      const vm = await harness.givenVm('Stopped');
      await hardware.apply(vm, { kind: 'add-nic', nic: 'lan', network: networks[0] });
      const root = (await hardware.read(vm)).disks.find(({ isRoot }) => isRoot)?.device ?? '';
      await hardware.apply(vm, { kind: 'set-boot-order', devices: ['lan', root] });
      expect((await hardware.read(vm)).bootOrder).toEqual(['lan', root]);
      await refuses(vm, { kind: 'set-boot-order', devices: ['lan', 'no-such-device'] }, 'DEVICE_NOT_FOUND');
      await refuses(vm, { kind: 'set-boot-order', devices: [root, root] }, 'INVALID_INPUT');
      await refuses(vm, { kind: 'set-boot-order', devices: [] }, 'INVALID_INPUT');
    });

    inTime('turns autostart on and off, or refuses it with a remedy', async () => {
      const vm = await harness.givenVm('Stopped');
      const { autostart } = await hardware.read(vm);
      if (autostart === null) return refuses(vm, { kind: 'set-autostart', isOn: true }, 'NOT_SUPPORTED');
      for (const isOn of [true, true, false]) {
        await hardware.apply(vm, { kind: 'set-autostart', isOn });
        expect((await hardware.read(vm)).autostart).toBe(isOn);
      }
    });

    inTime('has a drive only where there is one', async () => {
      const vm = await harness.givenVm('Stopped');
      await refuses(vm, { kind: 'change-medium', drive: 'no-such-drive', volume: null }, 'DEVICE_NOT_FOUND');
    });
  });
}

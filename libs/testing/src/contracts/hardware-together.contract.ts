import {
  type HardwareChange,
  type HardwareChangeGroup,
  type HardwareResult,
  type InstanceHardware,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { MEMORY_NETWORKS } from '../memory-backend/memory-instances.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import type { HardwareContractOptions } from './instance-hardware.contract.js';

const MIB = 1024 ** 2;

/** The rules of every `InstanceHardware` for several changes of one request. */
export function hardwareTogetherContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, memoryMib = 1536 }: ContractOptions & HardwareContractOptions = {},
): void {
  describe(`InstanceHardware, several changes, ${adapter}`, () => {
    let harness: BackendHarness;
    let hardware: InstanceHardware;
    let recorder: InventoryRecorder;
    let network: string;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      hardware = harness.backend.require('hardware');
      recorder = await opened.recorder();
      [network] = (await harness.givenNetworks?.()) ?? MEMORY_NETWORKS;
    });

    const refusalsOf = (groups: readonly HardwareChangeGroup[]): string[] =>
      groups.flat().flatMap(({ plan }) => plan.refusals.map(({ code }) => code));
    const applyAll = async (ref: InstanceRef, changes: readonly HardwareChange[]): Promise<HardwareResult[]> => {
      const results: HardwareResult[] = [];
      for (const group of await hardware.planAll(ref, changes)) {
        const due = group.flatMap(({ change, plan }) => (plan.steps.length > 0 ? [change] : []));
        results.push(...(await hardware.applyGroup(ref, due)));
      }
      return results;
    };
    const halfOf = (bytes: number): number => Math.floor(bytes / 2 / (2 * MIB)) * 2 * MIB;

    inTime('plans each change once, with its place in the request, and changes nothing', async () => {
      const vm = await harness.givenVm('Stopped');
      const before = await hardware.read(vm);
      const groups = await hardware.planAll(vm, [
        { kind: 'scale', cpu: before.cpu + 1, restart: false },
        { kind: 'add-nic', nic: 'lan', network },
        { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } },
      ]);
      expect(groups.flat().map(({ index, change }) => [index, change.kind])).toEqual([
        [2, 'attach-volume'],
        [1, 'add-nic'],
        [0, 'scale'],
      ]);
      expect(refusalsOf(groups)).toEqual([]);
      for (const { plan } of groups.flat()) expect(plan.steps.length).toBeGreaterThan(0);
      expect(await hardware.read(vm)).toEqual(before);
    });

    inTime('makes all changes of a stopped VM', async () => {
      const vm = await harness.givenVm('Stopped');
      const before = await hardware.read(vm);
      const root = before.disks.find(({ isRoot }) => isRoot)?.device ?? '';
      const results = await applyAll(vm, [
        { kind: 'scale', cpu: 2, memoryBytes: memoryMib * MIB, restart: true },
        { kind: 'add-nic', nic: 'lan', network },
        { kind: 'add-nic', nic: 'wan', network },
        { kind: 'set-boot-order', devices: [root] },
        { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } },
      ]);
      const volume = results.find((result) => result.volume !== undefined)?.volume ?? '';
      const after = await hardware.read(vm);
      expect(after).toMatchObject({ cpu: 2, memoryBytes: memoryMib * MIB, bootOrder: [root], pending: [] });
      expect(after.nics.slice(-2).map((nic) => [nic.name, nic.network])).toEqual([
        ['lan', network],
        ['wan', network],
      ]);
      expect(after.disks.find((disk) => disk.volume === volume)).toMatchObject({ sizeBytes: 64 * MIB });
      await recorder.untilVm(vm, (entry) => entry.cpu === 2);
    });

    inTime('restarts a running VM once for all changes that need it, and only on request', async () => {
      const vm = await harness.givenVm('Running', { booted: true });
      const { memoryBytes, disks } = await hardware.read(vm);
      const root = disks.find(({ isRoot }) => isRoot)?.device ?? '';
      const changes = (restart: boolean): HardwareChange[] => [
        { kind: 'scale', memoryBytes: halfOf(memoryBytes), restart },
        { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } },
        { kind: 'set-boot-order', devices: [root] },
      ];
      const effectOf = async (restart: boolean): Promise<string | undefined> =>
        (await hardware.planAll(vm, changes(restart))).flat().find(({ change }) => change.kind === 'scale')?.plan
          .effect;
      expect([await effectOf(false), await effectOf(true)]).toEqual(['next-start', 'restart']);
      await applyAll(vm, changes(false));
      expect((await hardware.read(vm)).pending).toContainEqual(expect.objectContaining({ field: 'memory' }));
      await applyAll(vm, [{ kind: 'scale', memoryBytes: memoryBytes - 32 * MIB, restart: true }]);
      expect(await hardware.read(vm)).toMatchObject({ memoryBytes: memoryBytes - 32 * MIB, pending: [] });
      await recorder.untilVm(vm, (entry) => entry.status === 'Running' && !entry.restartRequired);
    });

    inTime('names every refusal, and makes no change of a group with one', async () => {
      const vm = await harness.givenVm('Stopped');
      const before = await hardware.read(vm);
      const changes: HardwareChange[] = [
        { kind: 'scale', cpu: 100_000, restart: false },
        { kind: 'remove-nic', nic: 'none' },
        { kind: 'add-nic', nic: 'lan', network },
      ];
      const groups = await hardware.planAll(vm, changes);
      expect(refusalsOf(groups).sort()).toEqual(['DEVICE_NOT_FOUND', 'INVALID_INPUT']);
      const refused = groups.find((group) => group.some(({ plan }) => plan.refusals.length > 0)) ?? [];
      const attempt = hardware.applyGroup(
        vm,
        refused.map(({ change }) => change),
      );
      await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/DEVICE_NOT_FOUND|INVALID_INPUT/) });
      expect(await hardware.read(vm)).toEqual(before);
    });

    inTime('knows no VM that does not exist', async () => {
      const changes = [{ kind: 'remove-nic', nic: 'lan' }] as const;
      const error = { code: 'INSTANCE_NOT_FOUND' };
      await expect(hardware.planAll(missingRef(harness), changes)).rejects.toMatchObject(error);
      await expect(hardware.applyGroup(missingRef(harness), changes)).rejects.toMatchObject(error);
    });
  });
}

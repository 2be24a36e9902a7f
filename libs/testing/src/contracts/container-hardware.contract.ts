import type { Backend, ContainerSpec, HardwareChange, InstanceHardware, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingContainer, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const MIB = 1024 ** 2;

/** The rules for every `InstanceHardware` of containers, which has at least their CPUs and their memory. */
export function containerHardwareContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstanceHardware of containers, ${adapter}`, () => {
    let harness: BackendHarness;
    let hardware: InstanceHardware;
    let recorder: InventoryRecorder;
    let unreachable: Backend;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      hardware = harness.backend.requireFor('ct', 'hardware');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const given = async (phase: 'Running' | 'Stopped'): Promise<InstanceRef> => {
      const ref = missingContainer(harness);
      const image = harness.containerImage ?? 'debian:12';
      const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 1024 * MIB };
      const containers = harness.backend.require('containers');
      await containers.create({ ref, image, ...size, storageClass: '', privileged: false } satisfies ContainerSpec);
      if (phase === 'Stopped') await containers.stop(ref);
      await recorder.untilContainer(ref, (container) => container.phase === phase);
      return ref;
    };
    const scale = (cpu?: number, memoryMib?: number, restart = false): HardwareChange => ({
      kind: 'scale',
      ...(cpu !== undefined && { cpu }),
      ...(memoryMib !== undefined && { memoryBytes: memoryMib * MIB }),
      restart,
    });
    const refuses = async (ref: InstanceRef, change: HardwareChange, code: string): Promise<void> => {
      const before = await hardware.read(ref);
      const { refusals, steps } = await hardware.plan(ref, change);
      expect([refusals.map((one) => one.code), steps]).toEqual([[code], []]);
      for (const { reason, remedy } of refusals) expect([reason, remedy]).not.toContain('');
      await expect(hardware.apply(ref, change)).rejects.toMatchObject({ code });
      expect(await hardware.read(ref)).toEqual(before);
    };

    test('is an ability for containers', () => {
      expect(harness.backend.containerAbilities).toContain('hardware');
    });

    inTime('reads the size of a container, and which changes are possible', async () => {
      const found = await hardware.read(await given('Running'));
      expect(found).toMatchObject({ cpu: 1, memoryBytes: 256 * MIB, pending: [] });
      expect(found.changes).toContain('scale');
    });

    inTime('plans a change step by step and changes nothing', async () => {
      const ref = await given('Running');
      const before = await hardware.read(ref);
      const plan = await hardware.plan(ref, scale(2, 512));
      expect(plan).toMatchObject({ effect: 'now', refusals: [] });
      expect(plan.steps.length).toBeGreaterThan(0);
      expect(await hardware.read(ref)).toEqual(before);
    });

    inTime('scales a container while it runs', async () => {
      const ref = await given('Running');
      const { uid } = await recorder.untilContainer(ref, () => true);
      expect(await hardware.apply(ref, scale(2, 512))).toEqual({ effect: 'now' });
      expect(await hardware.read(ref)).toMatchObject({ cpu: 2, memoryBytes: 512 * MIB, pending: [] });
      const entry = await recorder.untilContainer(ref, ({ cpu, memoryBytes }) => cpu === 2 && memoryBytes > 256 * MIB);
      expect(entry).toMatchObject({ uid, phase: 'Running', memoryBytes: 512 * MIB });
    });

    inTime('changes one of the two, and leaves the other', async () => {
      const ref = await given('Running');
      await hardware.apply(ref, scale(2));
      expect(await hardware.read(ref)).toMatchObject({ cpu: 2, memoryBytes: 256 * MIB });
      await hardware.apply(ref, scale(undefined, 128));
      expect(await hardware.read(ref)).toMatchObject({ cpu: 2, memoryBytes: 128 * MIB });
    });

    inTime('scales a stopped container, which is started with the new size', async () => {
      const ref = await given('Stopped');
      expect(await hardware.apply(ref, scale(2, 300))).toEqual({ effect: 'next-start' });
      await recorder.untilContainer(ref, ({ cpu, phase }) => cpu === 2 && phase === 'Stopped');
      await harness.backend.require('containers').start(ref);
      const entry = await recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
      expect(entry).toMatchObject({ cpu: 2, memoryBytes: 300 * MIB });
    });

    inTime('has nothing to do for a size that it has', async () => {
      const ref = await given('Running');
      expect(await hardware.plan(ref, scale(1, 256))).toMatchObject({ steps: [], refusals: [] });
      await hardware.apply(ref, scale(1, 256));
      expect(await hardware.read(ref)).toMatchObject({ cpu: 1, memoryBytes: 256 * MIB });
    });

    inTime('refuses sizes that no machine has, and none at all', async () => {
      const ref = await given('Running');
      await refuses(ref, scale(0), 'INVALID_INPUT');
      await refuses(ref, scale(1_000_000), 'INVALID_INPUT');
      await refuses(ref, scale(undefined, 0), 'INVALID_QUANTITY');
      await refuses(ref, scale(undefined, 1024 ** 3), 'INVALID_QUANTITY');
      await refuses(ref, scale(2, 1024 ** 3), 'INVALID_QUANTITY');
    });

    inTime('refuses a change that containers do not have', async () => {
      const ref = await given('Stopped');
      await refuses(ref, { kind: 'set-boot-order', devices: ['eth0'] }, 'NOT_SUPPORTED');
    });

    inTime('knows no container that does not exist, also where a VM has its name', async () => {
      const vm = await harness.givenVm('Stopped');
      const missing = missingContainer(harness);
      const others = vm.kind === 'vm' ? [missing, { ...vm, kind: 'ct' as const }] : [missing];
      for (const ref of others) {
        const code = 'INSTANCE_NOT_FOUND';
        await expect(hardware.read(ref)).rejects.toMatchObject({ code });
        await expect(hardware.plan(ref, scale(2))).rejects.toMatchObject({ code });
        await expect(hardware.apply(ref, scale(2))).rejects.toMatchObject({ code });
      }
    });

    inTime('reports a backend that does not answer', async () => {
      const ref = { ...missingContainer(harness), context: unreachable.context };
      const away = unreachable.require('hardware').read(ref);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

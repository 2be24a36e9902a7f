import type { DiskMove, InstanceRef, VirtualMachine } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';
import { recordingReporter } from './recording-reporter.js';

/** The rules for every `DiskMove`. The engine needs a second storage. */
export function diskMoveContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`DiskMove, ${adapter}`, () => {
    let harness: BackendHarness;
    let diskMove: DiskMove;
    let recorder: InventoryRecorder;
    let storage: string;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      diskMove = harness.backend.require('diskMove');
      recorder = await opened.recorder();
      storage = (await harness.givenStorage?.()) ?? 'storage-2';
    });

    const createVm = async (start: boolean): Promise<VirtualMachine> =>
      createdVm(harness, recorder, { start, source: await (harness.diskSource?.() ?? harness.quickSource()) });
    const runningVm = (): Promise<VirtualMachine> => createVm(true);
    const rootOf = async (ref: InstanceRef): Promise<string> => {
      const { disks } = await harness.backend.require('hardware').read(ref);
      const root = disks.find(({ isRoot }) => isRoot);
      return root?.volume ?? root?.device ?? '';
    };

    inTime(
      'plans and moves the disk of a VM, which keeps running, also after a restart, and deletes it with the VM',
      async () => {
        const { ref, uid } = await runningVm();
        const volume = await rootOf(ref);
        const plan = await diskMove.plan(ref, { volume, storage });
        expect(plan.refusals).toEqual([]);
        expect(plan.steps.length).toBeGreaterThan(0);
        const resumed = await diskMove.resume(ref, { volume, storage });
        await expect(resumed(recordingReporter())).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
        expect(await rootOf(ref)).toBe(volume);
        const report = recordingReporter();
        await (
          await diskMove.move(ref, { volume, storage })
        )(report);
        const moved = await rootOf(ref);
        expect(moved).not.toBe(volume);
        const isBack = ({ status, restartRequired }: VirtualMachine): boolean =>
          status === 'Running' && !restartRequired;
        expect((await recorder.untilVm(ref, isBack)).uid).toBe(uid);
        for (const fraction of report.fractions) {
          expect(fraction).toBeGreaterThanOrEqual(0);
          expect(fraction).toBeLessThanOrEqual(1);
        }
        await (
          await diskMove.resume(ref, { volume, storage })
        )(recordingReporter());
        expect(await rootOf(ref)).toBe(moved);
        const again = await diskMove.plan(ref, { volume: moved, storage });
        expect(again.refusals.map(({ code }) => code)).toEqual(['WRONG_STATE']);
        await harness.backend.require('provisioning').delete(ref);
        await recorder.until(() => recorder.vm(ref) === undefined);
      },
    );

    inTime('refuses unknown disks and storages and stopped VMs, in the plan as in the run', async () => {
      const { ref } = await runningVm();
      const volume = await rootOf(ref);
      const stopped = await createVm(false);
      for (const [vm, request, code] of [
        [ref, { volume: 'no-such-disk', storage }, 'DEVICE_NOT_FOUND'],
        [ref, { volume, storage: 'no-such-storage' }, 'VOLUME_NOT_FOUND'],
        [stopped.ref, { volume: await rootOf(stopped.ref), storage }, 'WRONG_STATE'],
      ] as const) {
        expect((await diskMove.plan(vm, request)).refusals.map((refusal) => refusal.code)).toContain(code);
        await expect(diskMove.move(vm, request)).rejects.toMatchObject({ code });
      }
      expect(await rootOf(ref)).toBe(volume);
    });

    inTime('leaves the disk where it was when it is canceled', async () => {
      const { ref } = await runningVm();
      const volume = await rootOf(ref);
      const work = await diskMove.move(ref, { volume, storage });
      await expect(work(recordingReporter(AbortSignal.abort(new Error('canceled'))))).rejects.toThrow('canceled');
      expect(await rootOf(ref)).toBe(volume);
      expect((await diskMove.plan(ref, { volume, storage })).refusals).toEqual([]);
    });

    inTime('knows no VM that does not exist', async () => {
      const request = { volume: 'vda', storage };
      await expect(diskMove.plan(missingRef(harness), request)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(diskMove.move(missingRef(harness), request)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(diskMove.resume(missingRef(harness), request)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });
  });
}

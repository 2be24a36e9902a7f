import { type InstancePower, type InstanceRef, type VmStatus } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `InstancePower`. */
export function instancePowerContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstancePower, ${adapter}`, () => {
    let harness: BackendHarness;
    let power: InstancePower;
    let recorder: InventoryRecorder;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      power = harness.backend.require('power');
      recorder = await opened.recorder();
    });

    const becomes = (ref: InstanceRef, status: VmStatus) => recorder.untilVm(ref, (vm) => vm.status === status);

    inTime('starts a stopped VM, and leaves a running one running', async () => {
      const vm = await harness.givenVm('Stopped');
      await power.apply(vm, 'start');
      const { uid } = await becomes(vm, 'Running');
      await power.apply(vm, 'start');
      expect(recorder.vm(vm)).toMatchObject({ uid, status: 'Running' });
    });

    inTime('shows when a guest was started, only while it runs', async () => {
      const vm = await harness.givenVm('Stopped');
      expect(recorder.vm(vm)?.startedAt).toBeUndefined();
      await power.apply(vm, 'start');
      const { startedAt = '' } = await recorder.untilVm(vm, (one) => one.status === 'Running' && 'startedAt' in one);
      expect(startedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
      await power.apply(vm, 'stop', { force: true });
      expect((await becomes(vm, 'Stopped')).startedAt).toBeUndefined();
    });

    inTime('pulls the plug for a forced stop', async () => {
      const vm = await harness.givenVm('Running');
      await power.apply(vm, 'stop', { force: true });
      await becomes(vm, 'Stopped');
    });

    inTime('stops a guest that reacts to its power button', async () => {
      const vm = await harness.givenVm('Running', { booted: true });
      await power.apply(vm, 'stop');
      await becomes(vm, 'Stopped');
    });

    inTime('accepts the stop of a stopped VM', async () => {
      const vm = await harness.givenVm('Stopped');
      await power.apply(vm, 'stop');
      await power.apply(vm, 'stop', { force: true });
      await becomes(vm, 'Stopped');
    });

    inTime('pauses and unpauses, and accepts each twice', async () => {
      const vm = await harness.givenVm('Running');
      await power.apply(vm, 'pause');
      await becomes(vm, 'Paused');
      await power.apply(vm, 'pause');
      await power.apply(vm, 'unpause');
      await becomes(vm, 'Running');
      await power.apply(vm, 'unpause');
    });

    inTime('restarts a running VM by force', async () => {
      const vm = await harness.givenVm('Running');
      await power.apply(vm, 'restart', { force: true });
      await becomes(vm, 'Running');
    });

    inTime('a running VM stays on, also while it is paused, and a stopped one does not', async () => {
      const vm = await harness.givenVm('Running');
      expect(await power.staysOn(vm)).toBe(true);
      await power.apply(vm, 'pause');
      expect(await power.staysOn(vm)).toBe(true);
      expect(await power.staysOn(await harness.givenVm('Stopped'))).toBe(false);
      await expect(power.staysOn(missingRef(harness))).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('a VM that was asked to stop does not stay on, also while its guest still runs', async () => {
      const vm = await harness.givenVm('Running');
      await power.apply(vm, 'stop');
      expect(await power.staysOn(vm)).toBe(false);
      await power.apply(vm, 'stop', { force: true });
      await becomes(vm, 'Stopped');
      await power.apply(vm, 'start');
      expect(await power.staysOn(vm)).toBe(true);
    });

    for (const action of ['restart', 'pause', 'unpause'] as const) {
      inTime(`refuses to ${action} a stopped VM`, async () => {
        const vm = await harness.givenVm('Stopped');
        await expect(power.apply(vm, action)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      });
    }

    for (const action of ['start', 'stop', 'restart', 'pause', 'unpause'] as const) {
      inTime(`refuses to ${action} a VM that is not there`, async () => {
        await expect(power.apply(missingRef(harness), action)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      });
    }
  });
}

import type { InstanceCloning, InstanceRef, OperationKey, VirtualMachine } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';
import { carryOn, freshKey, killAtCommit } from './interrupted.js';
import { recordingReporter } from './recording-reporter.js';

/** The rules for every `InstanceCloning`. */
export function instanceCloningContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstanceCloning, ${adapter}`, () => {
    let harness: BackendHarness;
    let cloning: InstanceCloning;
    let recorder: InventoryRecorder;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      cloning = harness.backend.require('cloning');
      recorder = await opened.recorder();
    });

    const clone = async (source: InstanceRef, target: InstanceRef, key?: OperationKey): Promise<VirtualMachine> => {
      const { remaining } = await cloning.clone(source, target, key);
      await remaining?.(recordingReporter());
      return recorder.untilVm(target, ({ status }) => status === 'Stopped');
    };

    inTime('makes a stopped VM of the same size that is a VM of its own', async () => {
      const source = await createdVm(harness, recorder);
      await harness.backend.require('provisioning').setTag(source.ref, 'prod', true);
      const copy = await clone(source.ref, harness.freshRef());
      expect(copy).toMatchObject({
        cpu: source.cpu,
        memoryBytes: source.memoryBytes,
        diskBytes: source.diskBytes,
        tags: [],
        isTemplate: false,
      });
      expect(copy.uid).not.toBe(source.uid);
      await harness.backend.require('power').apply(copy.ref, 'start');
      await recorder.untilVm(copy.ref, ({ status }) => status === 'Running');
      expect(recorder.vm(source.ref)).toMatchObject({ uid: source.uid, status: 'Stopped' });
    });

    inTime('keeps the clone when the source is deleted, and the source when the clone is', async () => {
      const source = await createdVm(harness, recorder);
      const [first, second] = [
        await clone(source.ref, harness.freshRef()),
        await clone(source.ref, harness.freshRef()),
      ];
      await harness.backend.require('provisioning').delete(first.ref);
      await recorder.until(() => recorder.vm(first.ref) === undefined);
      await harness.backend.require('power').apply(source.ref, 'start');
      await recorder.untilVm(source.ref, ({ status }) => status === 'Running');
      await harness.backend.require('provisioning').delete(source.ref);
      await recorder.until(() => recorder.vm(source.ref) === undefined);
      await harness.backend.require('power').apply(second.ref, 'start');
      await recorder.untilVm(second.ref, ({ status }) => status === 'Running');
    });

    inTime('plans and makes another clone of a source that is being cloned', async () => {
      const { ref } = await createdVm(harness, recorder);
      const [one, two] = [harness.freshRef(), harness.freshRef()];
      let isGoingOn = true;
      const first = clone(ref, one, freshKey()).finally(() => (isGoingOn = false));
      const refusals = new Set<string>();
      while (isGoingOn) for (const { reason } of (await cloning.planClone(ref, two)).refusals) refusals.add(reason);
      expect([...refusals]).toEqual([]);
      await first;
      const targets = [two, harness.freshRef(), harness.freshRef()];
      const copies = await Promise.all(targets.map((target) => clone(ref, target, freshKey())));
      expect(copies.map((copy) => copy.ref.name)).toEqual(targets.map(({ name }) => name));
    });

    inTime('refuses a source that runs, also in the plan', async () => {
      const { ref } = await createdVm(harness, recorder, { start: true });
      const target = harness.freshRef();
      const { refusals } = await cloning.planClone(ref, target);
      expect(refusals.map(({ code }) => code)).toContain('WRONG_STATE');
      await expect(cloning.clone(ref, target)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(recorder.vm(target)).toBeUndefined();
    });

    inTime('refuses a name that exists, and leaves both VMs alone', async () => {
      const [one, other] = [await createdVm(harness, recorder), await createdVm(harness, recorder)];
      for (const target of [other.ref, one.ref]) {
        const { refusals } = await cloning.planClone(one.ref, target);
        expect(refusals.map(({ code }) => code)).toContain('ALREADY_EXISTS');
        await expect(cloning.clone(one.ref, target)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      }
      for (const { ref, uid } of [one, other]) expect(recorder.vm(ref)?.uid).toBe(uid);
    });

    inTime('plans without changing anything', async () => {
      const { ref } = await createdVm(harness, recorder);
      const target = harness.freshRef();
      const { steps, refusals } = await cloning.planClone(ref, target);
      expect([steps.length > 0, refusals]).toEqual([true, []]);
      expect((await cloning.planTemplate(ref, true)).steps.length).toBeGreaterThan(0);
      expect(recorder.vm(target)).toBeUndefined();
      expect(recorder.vm(ref)?.isTemplate).toBe(false);
    });

    inTime('marks a template, which can be cloned, and removes the mark', async () => {
      const { ref } = await createdVm(harness, recorder);
      await cloning.setTemplate(ref, true);
      await cloning.setTemplate(ref, true);
      await recorder.untilVm(ref, ({ isTemplate }) => isTemplate);
      expect((await cloning.planTemplate(ref, true)).steps).toEqual([]);
      const copy = await clone(ref, harness.freshRef());
      expect(copy.isTemplate).toBe(false);
      await cloning.setTemplate(ref, false);
      await recorder.untilVm(ref, ({ isTemplate }) => !isTemplate);
    });

    inTime('does not make a template of a VM that runs', async () => {
      const { ref } = await createdVm(harness, recorder, { start: true });
      await expect(cloning.setTemplate(ref, true)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(recorder.vm(ref)?.isTemplate).toBe(false);
    });

    inTime('does not start a template', async () => {
      const { ref } = await createdVm(harness, recorder);
      await cloning.setTemplate(ref, true);
      const start = harness.backend.require('power').apply(ref, 'start');
      await expect(start).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await recorder.untilVm(ref, ({ isTemplate, status }) => isTemplate && status === 'Stopped');
    });

    inTime('finds a clone again by its key, and carries it on after each interruption', async () => {
      const { ref, uid } = await createdVm(harness, recorder);
      const [target, key] = [harness.freshRef(), freshKey()];
      const cloned = {
        begin: async () => (await cloning.clone(ref, target, key)).remaining,
        stateOf: () => cloning.stateOf(ref, target, key),
        resume: () => cloning.resume(ref, target, key),
      };
      expect((await cloned.stateOf()).state).toBe('absent');
      // Killed after the request, and then when the VM is almost complete.
      await cloned.begin();
      if ((await cloned.stateOf()).state === 'running') await killAtCommit(await cloned.resume());
      await carryOn(cloned);
      expect(await carryOn(cloned)).toBe('done');
      await cloning.discard(ref, target, key);
      const copy = await recorder.untilVm(target, ({ status }) => status === 'Stopped');
      expect(copy.uid).not.toBe(uid);
      expect((await cloning.stateOf(ref, target, freshKey())).state).toBe('absent');
      await cloning.discard(ref, target, freshKey());
      await harness.backend.require('power').apply(target, 'start');
      await recorder.untilVm(target, (vm) => vm.status === 'Running' && vm.uid === copy.uid);
    });

    inTime('discards a clone that is not complete, and nothing else', async () => {
      const { ref, uid } = await createdVm(harness, recorder);
      const [target, key] = [harness.freshRef(), freshKey()];
      const { remaining } = await cloning.clone(ref, target, key);
      // An engine that clones immediately leaves nothing to discard.
      if (!remaining) return;
      await killAtCommit(remaining);
      await cloning.discard(ref, target, key);
      await recorder.until(() => recorder.vm(target) === undefined);
      expect((await cloning.stateOf(ref, target, key)).state).toBe('absent');
      await clone(ref, target);
      expect(recorder.vm(ref)).toMatchObject({ uid, status: 'Stopped' });
    });

    inTime('knows no VM that does not exist', async () => {
      const missing = missingRef(harness);
      for (const attempt of [
        () => cloning.planClone(missing, harness.freshRef()),
        () => cloning.clone(missing, harness.freshRef()),
        () => cloning.setTemplate(missing, true),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });
  });
}

import type {
  Backend,
  InstanceRef,
  InstanceSnapshots,
  Snapshot,
  SnapshotRequest,
  VirtualMachine,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';
import { carryOn, freshKey, killAtCommit } from './interrupted.js';
import { recordingReporter } from './recording-reporter.js';

export interface SnapshotContractOptions extends ContractOptions {
  /** Whether the engine can save the memory of a running guest. Default: false. */
  readonly savesMemory?: boolean;
}

/** The rules for every `InstanceSnapshots`. */
export function instanceSnapshotsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, savesMemory = false }: SnapshotContractOptions = {},
): void {
  describe(`InstanceSnapshots, ${adapter}`, () => {
    let harness: BackendHarness;
    let snapshots: InstanceSnapshots;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    let names = 0;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      snapshots = harness.backend.require('snapshots');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    // In the order of creation, which decides between snapshots of the same second.
    const freshName = (): string => `contract-${process.pid}-${String(++names).padStart(3, '0')}`;
    const stoppedVm = (): Promise<VirtualMachine> => createdVm(harness, recorder);
    const take = async (ref: InstanceRef, request: SnapshotRequest = { name: freshName() }): Promise<Snapshot> => {
      const { remaining } = await snapshots.create(ref, request);
      await remaining?.(recordingReporter());
      const taken = (await snapshots.list(ref)).find(({ name }) => name === request.name);
      if (!taken) throw new Error(`The snapshot ${request.name} is not in the list.`);
      return taken;
    };
    const restore = async (ref: InstanceRef, name: string): Promise<void> =>
      (await snapshots.restore(ref, name))(recordingReporter());
    const remove = async (ref: InstanceRef, name: string): Promise<void> => {
      const { remaining } = await snapshots.delete(ref, name);
      await remaining?.(recordingReporter());
    };
    const namesOf = async (ref: InstanceRef): Promise<string[]> => (await snapshots.list(ref)).map(({ name }) => name);

    inTime('has none of a new VM', async () => {
      expect(await snapshots.list((await stoppedVm()).ref)).toEqual([]);
    });

    inTime('saves a stopped VM, lists the oldest first, and restores each of them in any order', async () => {
      const { ref } = await stoppedVm();
      const [first, second] = [await take(ref), await take(ref)];
      for (const taken of [first, second]) {
        expect(taken).toMatchObject({ phase: 'Succeeded', ready: true });
        expect(Date.parse(taken.creationTime)).not.toBeNaN();
      }
      expect(await namesOf(ref)).toEqual([first.name, second.name]);
      await restore(ref, first.name);
      await restore(ref, second.name);
      expect(await namesOf(ref)).toEqual([first.name, second.name]);
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
    });

    inTime('saves a running VM, which continues to run, and starts it again after a restore', async () => {
      const { ref, uid } = await createdVm(harness, recorder, { start: true });
      const { name } = await take(ref);
      // An engine may pause the guest meanwhile.
      expect(await recorder.untilVm(ref, ({ status }) => status === 'Running')).toMatchObject({ uid });
      await restore(ref, name);
      const vm = await recorder.untilVm(ref, ({ status }) => status === 'Running');
      expect(vm.uid).toBe(uid);
      await remove(ref, name);
      expect(await namesOf(ref)).toEqual([]);
      await recorder.untilVm(ref, ({ status, restartRequired }) => status === 'Running' && !restartRequired);
    });

    inTime('deletes snapshots, the oldest, the newest and the last', async () => {
      const { ref } = await stoppedVm();
      const [first, second, third] = [await take(ref), await take(ref), await take(ref)];
      await remove(ref, first.name);
      expect(await namesOf(ref)).toEqual([second.name, third.name]);
      await remove(ref, third.name);
      await remove(ref, second.name);
      expect(await snapshots.list(ref)).toEqual([]);
      await expect(snapshots.delete(ref, second.name)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    });

    inTime('refuses a name that exists, also in the plan, and keeps the snapshot of that name', async () => {
      const { ref } = await stoppedVm();
      const { name } = await take(ref);
      const { refusals } = await snapshots.planCreate(ref, { name });
      expect(refusals.map(({ code }) => code)).toContain('ALREADY_EXISTS');
      await expect(snapshots.create(ref, { name })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      expect(await namesOf(ref)).toEqual([name]);
    });

    inTime('keeps the snapshots of two VMs apart', async () => {
      const [one, other] = [await stoppedVm(), await stoppedVm()];
      const { name } = await take(one.ref);
      expect(await snapshots.list(other.ref)).toEqual([]);
      for (const attempt of [
        () => snapshots.restore(other.ref, name),
        () => snapshots.planRestore(other.ref, name),
        () => snapshots.delete(other.ref, name),
        () => snapshots.planDelete(other.ref, name),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
      expect(await namesOf(one.ref)).toEqual([name]);
    });

    inTime('plans without changing anything', async () => {
      const { ref } = await stoppedVm();
      const { name } = await take(ref);
      for (const { steps, refusals } of [
        await snapshots.planCreate(ref, { name: freshName() }),
        await snapshots.planRestore(ref, name),
        await snapshots.planDelete(ref, name),
      ]) {
        expect(steps.length).toBeGreaterThan(0);
        expect(refusals).toEqual([]);
      }
      expect(await namesOf(ref)).toEqual([name]);
    });

    if (savesMemory) {
      inTime('saves the memory of a running VM, and a restore lets even a stopped VM run again', async () => {
        const { ref, uid } = await stoppedVm();
        await harness.removeSeed?.(ref);
        await harness.backend.require('power').apply(ref, 'start');
        await recorder.untilVm(ref, ({ status }) => status === 'Running');
        const request = { name: freshName(), memory: true };
        const taken = await take(ref, request);
        expect(taken).toMatchObject({ phase: 'Succeeded', ready: true, memory: true });
        // An engine may pause the guest meanwhile.
        const saved = await recorder.untilVm(ref, ({ status }) => status === 'Running');
        expect(saved.uid).toBe(uid);
        await harness.backend.require('power').apply(ref, 'stop', { force: true });
        await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
        await restore(ref, taken.name);
        await recorder.untilVm(ref, ({ status }) => status === 'Running');
        await remove(ref, taken.name);
        expect(await namesOf(ref)).toEqual([]);
      });

      inTime('refuses to save the memory of a stopped VM, also in the plan', async () => {
        const { ref } = await stoppedVm();
        const request = { name: freshName(), memory: true };
        await expect(snapshots.create(ref, request)).rejects.toMatchObject({ code: 'WRONG_STATE' });
        const { refusals } = await snapshots.planCreate(ref, request);
        expect(refusals.map(({ code }) => code)).toContain('WRONG_STATE');
        expect(await snapshots.list(ref)).toEqual([]);
      });
    } else {
      inTime('refuses to save memory, with the reason', async () => {
        const { ref } = await stoppedVm();
        const request = { name: freshName(), memory: true };
        await expect(snapshots.create(ref, request)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
        const { refusals } = await snapshots.planCreate(ref, request);
        expect(refusals.map(({ code }) => code)).toContain('NOT_SUPPORTED');
        expect(await snapshots.list(ref)).toEqual([]);
      });
    }

    inTime('finds a creation again, and carries it on after each interruption', async () => {
      const { ref } = await stoppedVm();
      const [key, snapshot] = [freshKey(), freshName()];
      const operation = { kind: 'create', snapshot, ...key } as const;
      const creation = {
        begin: async () => (await snapshots.create(ref, { name: snapshot }, key)).remaining,
        stateOf: () => snapshots.stateOf(ref, operation),
        resume: () => snapshots.resume(ref, operation),
      };
      expect((await creation.stateOf()).state).toBe('absent');
      // The process is killed after its request: the work that remains is lost.
      await creation.begin();
      await carryOn(creation);
      // And once more, when the end was not journaled.
      expect(await carryOn(creation)).toBe('done');
      await snapshots.discard(ref, operation, new AbortController().signal);
      expect(await namesOf(ref)).toEqual([snapshot]);
      expect((await snapshots.list(ref))[0]).toMatchObject({ phase: 'Succeeded', ready: true });
    });

    inTime('does not take a snapshot of others for that of an operation, and leaves it alone', async () => {
      const { ref } = await stoppedVm();
      const { name } = await take(ref);
      const foreign = { kind: 'create', snapshot: name, ...freshKey() } as const;
      expect((await snapshots.stateOf(ref, foreign)).state).toBe('absent');
      await snapshots.discard(ref, foreign, new AbortController().signal);
      const restore = { kind: 'restore', snapshot: name, ...freshKey() } as const;
      expect((await snapshots.stateOf(ref, restore)).state).toBe('absent');
      await snapshots.discard(ref, restore, new AbortController().signal);
      expect(await namesOf(ref)).toEqual([name]);
      expect(recorder.vm(ref)?.status).toBe('Stopped');
    });

    inTime('carries a restore of a running VM on after an interruption before the disks are replaced', async () => {
      const { ref, uid } = await createdVm(harness, recorder, { start: true });
      const { name: snapshot } = await take(ref);
      const key = freshKey({ wasRunning: true });
      const operation = { kind: 'restore', snapshot, ...key } as const;
      const restoring = {
        begin: () => snapshots.restore(ref, snapshot, key),
        stateOf: () => snapshots.stateOf(ref, operation),
        resume: () => snapshots.resume(ref, operation),
      };
      expect((await restoring.stateOf()).state).toBe('absent');
      await killAtCommit(await restoring.begin());
      expect(['absent', 'running']).toContain(await carryOn(restoring));
      const vm = await recorder.untilVm(ref, ({ status }) => status === 'Running');
      expect(vm.uid).toBe(uid);
      expect(await carryOn(restoring)).toBe('done');
      expect(await namesOf(ref)).toEqual([snapshot]);
    });

    inTime('discards a restore that has replaced no disk, and lets the VM run again', async () => {
      const { ref, uid } = await createdVm(harness, recorder, { start: true });
      const { name: snapshot } = await take(ref);
      const key = freshKey({ wasRunning: true });
      const operation = { kind: 'restore', snapshot, ...key } as const;
      await killAtCommit(await snapshots.restore(ref, snapshot, key));
      await snapshots.discard(ref, operation, new AbortController().signal);
      await recorder.untilVm(ref, (vm) => vm.status === 'Running' && vm.uid === uid);
      expect((await snapshots.stateOf(ref, operation)).state).toBe('absent');
      await restore(ref, snapshot);
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
    });

    inTime('a restore leaves a VM off that was asked to stop, although its guest still runs', async () => {
      const { ref } = await createdVm(harness, recorder, { start: true });
      const { name: snapshot } = await take(ref);
      const power = harness.backend.require('power');
      await power.apply(ref, 'stop');
      const key = freshKey({ wasRunning: await power.staysOn(ref) });
      expect(key.wasRunning).toBe(false);
      await (
        await snapshots.restore(ref, snapshot, key)
      )(recordingReporter());
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      expect((await snapshots.stateOf(ref, { kind: 'restore', snapshot, ...key })).state).toBe('done');
      expect(await power.staysOn(ref)).toBe(false);
    });

    inTime('finds a deletion again, and carries it on', async () => {
      const { ref } = await stoppedVm();
      const [first, second] = [await take(ref), await take(ref)];
      const key = freshKey();
      const operation = { kind: 'delete', snapshot: first.name, ...key } as const;
      const deletion = {
        begin: async () => (await snapshots.delete(ref, first.name, key)).remaining,
        stateOf: () => snapshots.stateOf(ref, operation),
        resume: () => snapshots.resume(ref, operation),
      };
      expect((await deletion.stateOf()).state).toBe('absent');
      await deletion.begin();
      await carryOn(deletion);
      expect(await carryOn(deletion)).toBe('done');
      expect(await namesOf(ref)).toEqual([second.name]);
    });

    inTime('a VM has no snapshots of a deleted VM of its name', async () => {
      const { ref } = await stoppedVm();
      await take(ref);
      await harness.backend.require('provisioning').delete(ref);
      await recorder.until(() => recorder.vm(ref) === undefined);
      await createdVm(harness, recorder, { ref });
      expect(await snapshots.list(ref)).toEqual([]);
    });

    inTime('knows no VM that does not exist', async () => {
      const missing = missingRef(harness);
      for (const attempt of [
        () => snapshots.list(missing),
        () => snapshots.planCreate(missing, { name: 'one' }),
        () => snapshots.create(missing, { name: 'one' }),
        () => snapshots.restore(missing, 'one'),
        () => snapshots.delete(missing, 'one'),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('snapshots').list({ ...missingRef(harness), context: unreachable.context });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

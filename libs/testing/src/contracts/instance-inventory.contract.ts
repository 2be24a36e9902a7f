import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { formatRef, isSameRef, type InstanceInventory } from '@headgate/domain-contracts';
import { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `InstanceInventory`. */
export function instanceInventoryContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstanceInventory, ${adapter}`, () => {
    let harness: BackendHarness;
    let inventory: InstanceInventory;
    const { inTime, afterTest } = contractTests(open, timeoutMs, (opened) => {
      ({ harness } = opened);
      inventory = harness.backend.require('inventory');
    });
    const record = (): InventoryRecorder => {
      const recorder = InventoryRecorder.over(inventory);
      afterTest(() => recorder.stop());
      return recorder;
    };

    inTime('reports the complete list before any change', async () => {
      const ref = await harness.givenVm('Stopped');
      const recorder = record();
      await recorder.whenListed();
      expect(recorder.calls[0]).toBe('listed');
      expect(recorder.stateOf(ref)).toBe('Stopped');
      expect(recorder.instance(ref)?.backend).toBe(harness.backend.kind);
    });

    inTime('names each instance under its own context, once', async () => {
      await harness.givenVm('Stopped');
      const recorder = record();
      await recorder.whenListed();
      const contexts = [...recorder.instances.values()].map(({ ref }) => ref.context);
      expect(new Set(contexts)).toEqual(new Set([harness.backend.context]));
      const uids = [...recorder.instances.values()].map(({ uid }) => uid);
      expect(uids).not.toContain('');
      expect(new Set(uids).size).toBe(uids.length);
    });

    inTime('reports a VM that another program created', async () => {
      const recorder = record();
      await recorder.whenListed();
      const ref = await harness.givenVm('Stopped');
      await recorder.until(() => recorder.stateOf(ref) === 'Stopped');
    });

    inTime('reports that another program deleted a VM', async () => {
      const ref = await harness.givenVm('Stopped');
      const recorder = record();
      await recorder.until(() => recorder.instance(ref) !== undefined);
      await harness.deleteExternally(ref);
      await recorder.until(() => recorder.instance(ref) === undefined);
      expect(recorder.calls).toContain(`removed ${formatRef(ref)}`);
    });

    inTime('shows node only while the VM runs', async () => {
      const [stopped, running] = [await harness.givenVm('Stopped'), await harness.givenVm('Running')];
      const recorder = record();
      // A cluster reports the guest, which is on the node, a moment after the VM.
      await recorder.until(
        () => recorder.stateOf(running) === 'Running' && recorder.instance(running)?.node !== undefined,
      );
      expect(recorder.instance(running)?.node).toEqual(expect.any(String));
      expect(recorder.instance(stopped)?.node).toBeUndefined();
      expect(recorder.instance(stopped)).not.toMatchObject({ ip: expect.anything() });
    });

    inTime('reports the same to two watchers', async () => {
      const ref = await harness.givenVm('Stopped');
      const [one, two] = [record(), record()];
      await Promise.all([
        one.until(() => one.instance(ref) !== undefined),
        two.until(() => two.instance(ref) !== undefined),
      ]);
      // One of them may know the next change already.
      while (!isDeepStrictEqual(one.instance(ref), two.instance(ref))) await setImmediate();
    });

    inTime('reports nothing after its watch was stopped', async () => {
      const stopped = record();
      await stopped.whenListed();
      await stopped.stop();
      const callCount = stopped.calls.length;
      const witness = record();
      const ref = await harness.givenVm('Stopped');
      await witness.until(() => witness.instance(ref) !== undefined);
      expect(stopped.calls.slice(callCount)).toEqual([]);
    });

    inTime("answers the backend's own object as JSON, a new one each time", async () => {
      const ref = await harness.givenVm('Stopped');
      const one = await inventory.manifest(ref, { masked: true });
      expect(JSON.parse(JSON.stringify(one))).toEqual(one);
      expect(JSON.stringify(one)).toContain(ref.name);
      Object.assign(one as object, { changed: true });
      expect(await inventory.manifest(ref, { masked: true })).not.toHaveProperty('changed');
    });

    inTime('refuses the manifest of a VM that does not exist', async () => {
      await expect(inventory.manifest(missingRef(harness), { masked: true })).rejects.toMatchObject({
        code: 'INSTANCE_NOT_FOUND',
      });
    });

    inTime('shows a running VM as ready and a stopped one as not', async () => {
      const [stopped, running] = [await harness.givenVm('Stopped'), await harness.givenVm('Running')];
      const recorder = record();
      await recorder.until(() => recorder.instance(running)?.ready === true);
      expect(recorder.instance(stopped)?.ready).toBe(false);
      expect(isSameRef(stopped, running)).toBe(false);
    });
  });
}

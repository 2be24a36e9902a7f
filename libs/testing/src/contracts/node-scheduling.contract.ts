import { formatRef, type Backend, type InstanceRef, type NodeScheduling } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { carryOn, freshKey } from './interrupted.js';
import { recordingReporter } from './recording-reporter.js';

/** The rules for every `NodeScheduling`. The engine needs two nodes that are ready. */
export function nodeSchedulingContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`NodeScheduling, ${adapter}`, () => {
    let harness: BackendHarness;
    let scheduling: NodeScheduling;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      scheduling = harness.backend.require('nodeScheduling');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const nodeNamed = async (node: string) =>
      (await harness.backend.require('cluster').nodes()).find(({ name }) => name === node);
    const unschedulableOf = async (node: string): Promise<string | undefined> => (await nodeNamed(node))?.unschedulable;
    const runningVm = async (): Promise<{ ref: InstanceRef; node: string; uid: string }> => {
      const ref = await harness.givenVm('Running', { booted: true });
      const vm = await recorder.untilVm(ref, ({ node, ready, status }) => status === 'Running' && ready && !!node);
      return { ref, node: vm.node!, uid: vm.uid };
    };
    const cordon = async (node: string): Promise<void> => {
      await scheduling.setSchedulable(node, false);
      afterTest(() => scheduling.setSchedulable(node, true));
    };
    const leavingOf = async (ref: InstanceRef, node: string) =>
      (await scheduling.drainOf(node)).instances.find((one) => formatRef(one.ref) === formatRef(ref));

    inTime('cordons and uncordons a node, each once, and its VMs run on', async () => {
      const { ref, node } = await runningVm();
      await cordon(node);
      expect(await unschedulableOf(node)).not.toBe('');
      expect((await nodeNamed(node))?.isCordoned).toBe(true);
      expect(await scheduling.setSchedulable(node, false)).toBe(false);
      expect(recorder.vm(ref)).toMatchObject({ node, status: 'Running' });
      expect(await scheduling.setSchedulable(node, true)).toBe(true);
      expect(await scheduling.setSchedulable(node, true)).toBe(false);
      expect(await unschedulableOf(node)).toBe('');
      expect((await nodeNamed(node))?.isCordoned ?? false).toBe(false);
    });

    inTime('plans how each instance would leave, also before the node is cordoned, and changes nothing', async () => {
      const { ref, node } = await runningVm();
      const leaving = await leavingOf(ref, node);
      expect(leaving).toMatchObject({ way: 'migrate', losses: [], memoryBytes: expect.any(Number) });
      expect(leaving?.refusal).toBeUndefined();
      expect(leaving?.candidates).not.toContain(node);
      expect(leaving?.candidates).not.toEqual([]);
      expect(await unschedulableOf(node)).toBe('');
      expect(recorder.vm(ref)?.node).toBe(node);
      const stopped = await harness.givenVm('Stopped');
      const names = (await scheduling.drainOf(node)).instances.map((one) => formatRef(one.ref));
      expect(names).not.toContain(formatRef(stopped));
    });

    inTime('gets a VM off a cordoned node while its guest runs, and finds the departure again by its key', async () => {
      const { ref, node, uid } = await runningVm();
      await cordon(node);
      const key = freshKey({ wasRunning: true, node });
      const leaving = {
        begin: () => scheduling.leave(ref, node, key),
        stateOf: () => scheduling.stateOf(ref, node, key),
        resume: () => scheduling.resume(ref, node, key),
      };
      expect((await leaving.stateOf()).state).toBe('absent');
      await leaving.begin();
      await carryOn(leaving);
      const vm = await recorder.untilVm(ref, (one) => one.node !== node && one.status === 'Running');
      expect(vm.uid).toBe(uid);
      expect(await carryOn(leaving)).toBe('done');
      expect(await leavingOf(ref, node)).toBeUndefined();
      expect(await scheduling.leave(ref, node, freshKey({ wasRunning: true, node }))).toBeUndefined();
    });

    inTime('leaves the VM running when its departure is canceled', async () => {
      const { ref, node } = await runningVm();
      await cordon(node);
      const work = await scheduling.leave(ref, node, freshKey({ wasRunning: true, node }));
      await work?.(recordingReporter(AbortSignal.abort(new Error('canceled')))).catch(() => undefined);
      const vm = await recorder.untilVm(ref, ({ status }) => status === 'Running');
      expect(vm.ready).toBe(true);
    });

    inTime('refuses the departure from a node that is not cordoned', async () => {
      const { ref, node } = await runningVm();
      await expect(scheduling.leave(ref, node, freshKey())).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(recorder.vm(ref)?.node).toBe(node);
    });

    inTime('refuses a node that does not exist', async () => {
      const { ref } = await runningVm();
      const refused = { code: 'NODE_NOT_FOUND' };
      await expect(scheduling.setSchedulable('no-such-node', false)).rejects.toMatchObject(refused);
      await expect(scheduling.drainOf('no-such-node')).rejects.toMatchObject(refused);
      await expect(scheduling.leave(ref, 'no-such-node', freshKey())).rejects.toMatchObject(refused);
    });

    inTime('fails with BACKEND_UNREACHABLE when the engine does not answer', async () => {
      const gone = unreachable.ability('nodeScheduling');
      // A cluster is allowed to be cordoned by its configuration.
      if (!('drainOf' in gone)) return;
      await expect(gone.drainOf('node')).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      await expect(gone.setSchedulable('node', false)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    });
  });
}

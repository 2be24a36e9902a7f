import { randomUUID } from 'node:crypto';
import type { Backend, BootProof, BootSpec, InstanceRef, PortableVm } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

/** The rules for every `BootProof`. Guests that come up are in the tests of the adapters. */
export function bootProofContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`BootProof, ${adapter}`, () => {
    let harness: BackendHarness;
    let proof: BootProof;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      proof = harness.backend.require('bootProof');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const stoppedVm = async (): Promise<{ readonly ref: InstanceRef; readonly vm: PortableVm }> => {
      const source = await harness.diskSource?.();
      const { ref } = await createdVm(harness, recorder, { ...(source && { source }) });
      return { ref, vm: (await harness.backend.require('diskSource').describe(ref)).vm };
    };
    const specOf = async (ref: InstanceRef, vm: PortableVm): Promise<BootSpec> => {
      const { disks, close } = await harness.backend.require('backupSource').open(ref, { series: 'proof' }, never);
      afterTest(() => close({ keep: false }));
      return { id: randomUUID(), vm, disks, timeLimitMs: 60_000 };
    };

    inTime('plans the boot, and refuses a guest for which the memory is not free', async () => {
      const { vm } = await stoppedVm();
      const plan = await proof.plan({ id: randomUUID(), vm });
      expect(plan.refusals).toEqual([]);
      expect(plan.steps.length).toBeGreaterThan(0);
      const huge = { ...vm, memoryBytes: 2 ** 50 };
      const refused = await proof.plan({ id: randomUUID(), vm: huge });
      expect(refused.refusals).toEqual([expect.objectContaining({ code: 'WRONG_STATE' })]);
      const spec = { id: randomUUID(), vm: huge, disks: [], timeLimitMs: 1000 };
      await expect(proof.boot(spec, never)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('plans a command, or refuses it with a reason, and boots nothing then', async () => {
      const { ref, vm } = await stoppedVm();
      const command = { path: '/bin/true', args: [] };
      const { refusals } = await proof.plan({ id: randomUUID(), vm, origin: ref, command });
      if (refusals.length === 0) return;
      expect(refusals).toEqual([
        { code: 'NOT_SUPPORTED', reason: expect.stringMatching(/^command: /), remedy: expect.any(String) },
      ]);
      const spec = { ...(await specOf(ref, vm)), command };
      await expect(proof.boot(spec, never)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    });

    inTime('reports a disk that can not be read, shows no VM, and changes none', async () => {
      const { ref, vm } = await stoppedVm();
      const spec = await specOf(ref, vm);
      const [disk] = spec.disks;
      if (!disk) throw new Error('The VM has no disk.');
      const read = (): Promise<Buffer> => Promise.reject(new Error('blob 1234 is damaged'));
      const before = [...recorder.instances.keys()];
      const outcome = await proof.boot({ ...spec, disks: [{ ...disk, read }] }, never);
      expect(outcome.problem).toContain('blob 1234 is damaged');
      expect([...recorder.instances.keys()]).toEqual(before);
      expect(recorder.calls.filter((call) => call.includes('headgate-proof'))).toEqual([]);
    });

    inTime('boots nothing for a caller that has left', async () => {
      const { ref, vm } = await stoppedVm();
      await expect(proof.boot(await specOf(ref, vm), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    });

    inTime('discards a proof that does not exist without an error', async () => {
      await proof.discard(randomUUID());
    });

    inTime('reports a backend that does not answer', async () => {
      const { vm } = await stoppedVm();
      const away = unreachable.require('bootProof').plan({ id: randomUUID(), vm });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

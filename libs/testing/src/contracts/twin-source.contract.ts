import type { Backend, TwinReading, TwinSource } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

const READING: TwinReading = { maxObjects: 20_000, signal: new AbortController().signal };

/** The rules for every `TwinSource`. */
export function twinSourceContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`TwinSource, ${adapter}`, () => {
    let harness: BackendHarness;
    let source: TwinSource;
    let recorder: InventoryRecorder;
    let unreachable: Backend;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      source = harness.backend.require('twin');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    inTime('reads the objects of a VM with their IDs', async () => {
      const { ref, uid } = await createdVm(harness, recorder);
      const { objects, gaps, readAt } = await source.read(READING);
      expect(JSON.stringify(objects)).toContain(uid);
      expect(JSON.stringify(objects)).toContain(ref.name);
      expect(readAt).toBeGreaterThan(0);
      for (const gap of gaps) expect(gap).toMatch(/^[A-Z].*\.$/);
    });

    inTime('refuses more objects than allowed', async () => {
      await expect(source.read({ ...READING, maxObjects: 1 })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    });

    inTime('ends with the reason of its signal', async () => {
      await expect(source.read({ ...READING, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('twin').read(READING);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

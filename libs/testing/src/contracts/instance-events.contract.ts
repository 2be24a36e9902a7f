import { setImmediate } from 'node:timers/promises';
import type { Backend, InstanceEvents, InstanceRef } from '@headgate/domain-contracts';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `InstanceEvents`. */
export function instanceEventsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstanceEvents, ${adapter}`, () => {
    let harness: BackendHarness;
    let events: InstanceEvents;
    let unreachable: Backend;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      events = harness.backend.require('events');
      await opened.recorder();
      unreachable = await opened.unreachable();
    });

    /** The backend may report them a moment after the VM. */
    const someEvents = async (vm: InstanceRef) => {
      for (;;) {
        const recent = await events.recent(vm, 50);
        if (recent.length > 0) return recent;
        await setImmediate();
      }
    };

    inTime('has events of a VM that was started, the newest first', async () => {
      const recent = await someEvents(await harness.givenVm('Running'));
      const times = recent.map(({ time }) => Date.parse(time));
      expect(times).toEqual([...times].sort((a, b) => b - a));
      for (const { type, reason, object, message } of recent) {
        expect(['Normal', 'Warning']).toContain(type);
        expect([reason, message]).not.toContain('');
        expect(object).toMatch(/^[A-Za-z]+\/.*./);
      }
    });

    inTime('keeps the events of two VMs apart', async () => {
      const one = await harness.givenVm('Running');
      const other = await harness.givenVm('Running');
      const ofOne = await someEvents(one);
      for (const { object, message } of ofOne) expect(`${object} ${message}`).not.toContain(other.name);
    });

    inTime('returns no more than the limit', async () => {
      const vm = await harness.givenVm('Running');
      for (;;) {
        const before = await events.recent(vm, 50);
        const limited = await events.recent(vm, 1);
        // An event of the start may arrive in between.
        if ((await events.recent(vm, 50)).length !== before.length) continue;
        expect(limited).toEqual(before.slice(0, 1));
        return;
      }
    });

    inTime('knows no VM that does not exist', async () => {
      await expect(events.recent(missingRef(harness), 50)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('events').recent({ ...missingRef(harness), context: unreachable.context }, 50);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

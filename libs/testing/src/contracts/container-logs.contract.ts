import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { Backend, ContainerLogs, ContainerPhase, InstanceRef, LogRequest } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { readUntil } from '../read-until.js';
import { missingContainer, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const MIB = 1024 ** 2;
const STAMPED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d) /;

/** The rules for every `ContainerLogs`. The image of the harness writes at least a line when it starts. */
export function containerLogsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`ContainerLogs, ${adapter}`, () => {
    let harness: BackendHarness;
    let logs: ContainerLogs;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      logs = harness.backend.require('containerLogs');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const { signal } = new AbortController();
    const becomes = (ref: InstanceRef, phase: ContainerPhase) =>
      recorder.untilContainer(ref, (container) => container.phase === phase);
    const running = async (): Promise<InstanceRef> => {
      const ref = missingContainer(harness);
      const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 1024 * MIB, storageClass: '', privileged: false };
      await harness.backend
        .require('containers')
        .create({ ref, image: harness.logImage ?? harness.containerImage ?? 'debian:12', ...size });
      await becomes(ref, 'Running');
      // Its program runs before it has written its first line.
      while ((await read(ref)) === '') await setImmediate();
      return ref;
    };
    const read = async (ref: InstanceRef, request: LogRequest = {}): Promise<string> =>
      text(await logs.open(ref, request, signal));

    test('is an ability for containers', () => {
      expect(harness.backend.containerAbilities).toContain('containerLogs');
      expect(harness.backend.requireFor('ct', 'containerLogs')).toBe(logs);
    });

    inTime('has the output of the program, whole lines, oldest first', async () => {
      const ref = await running();
      const whole = await read(ref);
      expect(whole).toMatch(/^[^\n]+\n/);
      expect(whole.endsWith('\n')).toBe(true);
    });

    inTime('returns no more than the last lines', async () => {
      const ref = await running();
      expect(await read(ref, { tailLines: 0 })).toBe('');
      const last = await read(ref, { tailLines: 1 });
      expect(last.split('\n')).toHaveLength(2);
      expect(await read(ref)).toContain(last);
    });

    inTime('adds the time of each line on request, and leaves out older ones', async () => {
      const ref = await running();
      const stamped = await read(ref, { timestamps: true });
      for (const line of stamped.trimEnd().split('\n')) expect(line).toMatch(STAMPED);
      const [time = ''] = stamped.split(' ');
      expect(await read(ref, { since: time })).not.toBe('');
      const later = new Date(Date.parse(time) + 24 * 3600_000).toISOString();
      expect(await read(ref, { since: later })).toBe('');
    });

    inTime('keeps the output of two containers apart', async () => {
      const one = await running();
      const other = await running();
      expect(await read(one)).not.toContain(other.name);
    });

    inTime('follows the log until the reader leaves', async () => {
      const ref = await running();
      const leaves = new AbortController();
      const stream = await logs.open(ref, { follow: true }, leaves.signal);
      stream.on('error', () => undefined);
      afterTest(() => stream.destroy());
      expect((await readUntil(stream, /\n/)).length).toBeGreaterThan(0);
      const closed = new Promise<void>((resolve) => void stream.once('close', resolve));
      leaves.abort(new Error('The reader has left.'));
      await closed;
    });

    inTime('opens nothing for a reader that has left already', async () => {
      const ref = await running();
      const left = AbortSignal.abort(new Error('The reader has left.'));
      await expect(logs.open(ref, { follow: true }, left)).rejects.toThrow('The reader has left.');
    });

    inTime('refuses a stopped container, and the previous run of one that was not restarted', async () => {
      const ref = await running();
      await expect(logs.open(ref, { previous: true }, signal)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await harness.backend.require('containers').stop(ref);
      await becomes(ref, 'Stopped');
      for (const follow of [false, true])
        await expect(logs.open(ref, { follow }, signal)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('knows no container that does not exist, also where a VM has its name', async () => {
      await expect(logs.open(missingContainer(harness), {}, signal)).rejects.toMatchObject({
        code: 'INSTANCE_NOT_FOUND',
      });
      const vm = await harness.givenVm('Running');
      await expect(logs.open({ ...vm, kind: 'ct' }, {}, signal)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const ref = { ...missingContainer(harness), context: unreachable.context };
      const away = unreachable.require('containerLogs').open(ref, {}, signal);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

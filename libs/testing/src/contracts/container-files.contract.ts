import { text } from 'node:stream/consumers';
import type { Backend, ContainerFiles, ContainerPhase, FilePage, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingContainer, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const MIB = 1024 ** 2;
const WHOLE = { skip: 0, limit: 1000 };
const FILE = '/etc/hostname';

/** The rules for every `ContainerFiles`. The image of the harness has `/etc/hostname`, and another entry in `/etc`. */
export function containerFilesContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`ContainerFiles, ${adapter}`, () => {
    let harness: BackendHarness;
    let files: ContainerFiles;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      files = harness.backend.require('containerFiles');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const { signal } = new AbortController();
    const becomes = (ref: InstanceRef, phase: ContainerPhase) =>
      recorder.untilContainer(ref, (container) => container.phase === phase);
    const running = async (): Promise<InstanceRef> => {
      const ref = missingContainer(harness);
      const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 1024 * MIB, storageClass: '', privileged: false };
      const image = harness.containerImage ?? 'debian:12';
      await harness.backend.require('containers').create({ ref, image, ...size });
      await becomes(ref, 'Running');
      return ref;
    };
    const list = (ref: InstanceRef, path: string, range = WHOLE): Promise<FilePage> =>
      files.list(ref, path, range, signal);
    const read = async (ref: InstanceRef, path: string): Promise<string> => text(await files.read(ref, path, signal));

    test('is an ability for containers', () => {
      expect(harness.backend.containerAbilities).toContain('containerFiles');
      expect(harness.backend.requireFor('ct', 'containerFiles')).toBe(files);
    });

    inTime('lists folders, sorted, without themselves', async () => {
      const ref = await running();
      const root = await list(ref, '/');
      expect(root.isCut).toBe(false);
      expect(root.entries.find(({ name }) => name === 'etc')).toMatchObject({ kind: 'folder', sizeBytes: 0 });
      const names = (await list(ref, '/etc/')).entries.map(({ name }) => name);
      expect(names).toContain('hostname');
      expect(names).toEqual([...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))));
      expect(names.filter((name) => ['', '.', '..'].includes(name) || name.includes('/'))).toEqual([]);
    });

    inTime('returns a part of a folder, with the number of all entries', async () => {
      const ref = await running();
      const whole = await list(ref, '/etc');
      expect(whole.total).toBe(whole.entries.length);
      const part = await list(ref, '/etc', { skip: 1, limit: 1 });
      expect(part).toMatchObject({ total: whole.total, entries: [{ name: whole.entries[1]?.name }] });
      expect((await list(ref, '/etc', { skip: whole.total, limit: 10 })).entries).toEqual([]);
    });

    inTime('reads a whole file, of the size that the list has', async () => {
      const ref = await running();
      const content = await read(ref, FILE);
      const entry = (await list(ref, '/etc')).entries.find(({ name }) => name === 'hostname');
      expect(entry).toMatchObject({ kind: 'file', sizeBytes: Buffer.byteLength(content) });
      expect(content).not.toBe('');
    });

    inTime('refuses paths that are not there, that are of another kind, and that leave their folder', async () => {
      const ref = await running();
      for (const path of ['/etc/none', '/none/none', `${FILE}/none`]) {
        await expect(list(ref, path)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
        await expect(read(ref, path)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
      }
      await expect(list(ref, FILE)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(read(ref, '/etc')).rejects.toMatchObject({ code: 'WRONG_STATE' });
      for (const path of ['/etc/../etc', '/etc/%2e%2e', '/a%00b', '/100%'])
        await expect(read(ref, path)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });

    inTime('ends with its reader, also one that has left before', async () => {
      const ref = await running();
      const leaves = new AbortController();
      const stream = await files.read(ref, FILE, leaves.signal);
      stream.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => void stream.once('close', resolve));
      leaves.abort(new Error('The reader has left.'));
      await closed;
      for (const reading of [files.read(ref, FILE, leaves.signal), files.list(ref, '/etc', WHOLE, leaves.signal)])
        await expect(reading).rejects.toThrow('The reader has left.');
    });

    inTime('refuses a stopped container', async () => {
      const ref = await running();
      await harness.backend.require('containers').stop(ref);
      await becomes(ref, 'Stopped');
      await expect(list(ref, '/')).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(read(ref, FILE)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('knows no container that does not exist, also where a VM has its name', async () => {
      const missing = { code: 'INSTANCE_NOT_FOUND' };
      await expect(list(missingContainer(harness), '/')).rejects.toMatchObject(missing);
      const vm = await harness.givenVm('Running');
      await expect(read({ ...vm, kind: 'ct' }, FILE)).rejects.toMatchObject(missing);
    });

    inTime('reports a backend that does not answer', async () => {
      const ref = { ...missingContainer(harness), context: unreachable.context };
      const away = unreachable.require('containerFiles').list(ref, '/', WHOLE, signal);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

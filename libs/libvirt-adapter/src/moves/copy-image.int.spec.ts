import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock, type LocalDisk } from '@headgate/domain-contracts';
import { NbdServer } from '../export/nbd-server.js';
import { runProgram } from '../programs/run-program.js';
import { copyImage } from './copy-image.js';

const MIB = 1024 ** 2;
const DISK_BYTES = 32 * MIB;
const execute = promisify(execFile);
const hasPrograms = (await runProgram('qemu-img', ['--version'], { timeoutMs: 60_000 })).code === 0;

(hasPrograms ? describe : describe.skip)('a copy by qemu-img', () => {
  let folder: string;
  let to: LocalDisk;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-copy-'));
    to = await blank('copy.qcow2');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const at = (name: string): string => join(folder, name);
  const blank = async (name: string, bytes = DISK_BYTES): Promise<LocalDisk> => {
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', at(name), String(bytes)]);
    return { path: at(name), format: 'qcow2' };
  };
  /** A raw disk with these parts. */
  const raw = async (name: string, parts: Readonly<Record<number, Buffer>>): Promise<LocalDisk> => {
    const file = await open(at(name), 'w');
    await file.truncate(DISK_BYTES);
    for (const [offset, data] of Object.entries(parts)) await file.write(data, 0, data.length, Number(offset));
    await file.close();
    return { path: at(name), format: 'raw' };
  };
  const content = async ({ path, format }: LocalDisk): Promise<Buffer> => {
    await execute('qemu-img', ['convert', '-f', format, '-O', 'raw', path, at('content')]);
    return readFile(at('content'));
  };
  const copy = (from: LocalDisk, { signal = new AbortController().signal, report = (_done: number) => {} } = {}) =>
    copyImage({ from, to, sizeBytes: DISK_BYTES, report, signal });

  test('has the content of a disk that is based on another one, and refers to no other file', async () => {
    const base = await raw('base.raw', { [MIB]: randomBytes(3 * MIB), [20 * MIB]: randomBytes(65_000) });
    const options = ['-f', 'qcow2', '-F', 'raw', '-b', base.path, at('top.qcow2')];
    await execute('qemu-img', ['create', '-q', ...options]);
    await execute('qemu-io', [
      '-f',
      'qcow2',
      '-c',
      `write -P 7 ${2 * MIB} 4096`,
      '-c',
      'write -z 1M 64k',
      at('top.qcow2'),
    ]);
    const from = { path: at('top.qcow2'), format: 'qcow2' };
    const used = await copy(from);
    expect((await content(to)).equals(await content(from))).toBe(true);
    expect(used).toBeGreaterThanOrEqual(3 * MIB);
    expect(used).toBeLessThan(6 * MIB);
    expect((await execute('qemu-img', ['info', '-f', 'qcow2', to.path])).stdout).not.toContain('backing file');
  });

  test('replaces all that an interrupted copy has left', async () => {
    await copy(await raw('old.raw', { 0: randomBytes(DISK_BYTES) }));
    const from = await raw('new.raw', { [10 * MIB]: randomBytes(100_000) });
    await copy(from);
    expect((await content(to)).equals(await content(from))).toBe(true);
  });

  test('takes the beginning of a raw disk for data, whatever the guest has written there', async () => {
    await writeFile(at('secret'), 'secret');
    const options = ['-f', 'qcow2', '-F', 'raw', '-b', at('secret'), at('image.qcow2'), String(DISK_BYTES)];
    await execute('qemu-img', ['create', '-q', ...options]);
    const from = await raw('hostile.raw', { 0: await readFile(at('image.qcow2')) });
    await copy(from);
    expect((await content(to)).equals(await readFile(from.path))).toBe(true);
  });

  test('is refused while another program writes to one of the two disks, which then are as before', async () => {
    const from = await blank('from.qcow2');
    for (const held of [from, to]) {
      const server = NbdServer.start(held, await mkdtemp(join(folder, 'nbd-')), { access: 'write' });
      const writer = await server.openWriter(new SystemClock(), new AbortController().signal);
      await expect(copy(from)).rejects.toMatchObject({ code: 'BUSY' });
      writer.close();
      await server.whenEnded();
    }
    await copy(from);
  });

  test('frees both disks when it is canceled', async () => {
    const from = await raw('large.raw', { 0: randomBytes(DISK_BYTES) });
    const cancel = new AbortController();
    const report = (): void => cancel.abort(new Error('canceled'));
    await expect(copy(from, { signal: cancel.signal, report })).rejects.toThrow('canceled');
    await copy(from);
    expect((await content(to)).equals(await content(from))).toBe(true);
  });

  test('fails when the new disk is smaller, or the source is missing', async () => {
    to = await blank('small.qcow2', MIB);
    const before = (await stat(to.path)).size;
    await expect(copy(await raw('from.raw', {}))).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect((await stat(to.path)).size).toBe(before);
    const missing = { path: at('none'), format: 'raw' };
    await expect(copy(missing)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });
});

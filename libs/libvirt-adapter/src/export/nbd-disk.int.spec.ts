import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock } from '@headgate/domain-contracts';
import { runProgram } from '../programs/run-program.js';
import type { NbdDisk } from './nbd-disk.js';
import { NbdServer, type NbdServerOptions } from './nbd-server.js';

const MIB = 1024 ** 2;
const KIB = 1024;
const execute = promisify(execFile);
const hasPrograms = (await runProgram('qemu-nbd', ['--version'], { timeoutMs: 60_000 })).code === 0;
const never = new AbortController().signal;

(hasPrograms ? describe : describe.skip)('a disk whose parts are read and written through qemu-nbd', () => {
  let folder: string;
  let path: string;
  let servers: NbdServer[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-disk-'));
    path = join(folder, 'disk.qcow2');
    servers = [];
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', path, String(8 * MIB)]);
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (options: NbdServerOptions = {}, file = path): Promise<NbdDisk> => {
    const server = NbdServer.start({ path: file, format: 'qcow2' }, await mkdtemp(join(folder, 'nbd-')), options);
    servers.push(server);
    return server.openDisk(new SystemClock(), never);
  };
  const close = async (disk: NbdDisk): Promise<void> => {
    disk.close();
    await servers.at(-1)?.whenEnded();
  };
  const write = async (offset: string, file = path): Promise<void> => {
    await execute('qemu-io', ['-f', 'qcow2', '-c', `write -P 7 ${offset} 4k`, file]);
  };

  test('returns bytes that were written in any order, zeros included, and its file has the same', async () => {
    const disk = await open({ access: 'write' });
    expect(disk.sizeBytes).toBe(8 * MIB);
    const [late, early] = [randomBytes(MIB), randomBytes(3 * KIB)];
    await Promise.all([disk.write(5 * MIB, late), disk.write(512, early)]);
    await disk.write(5 * MIB, Buffer.alloc(64 * KIB));
    const read = async (from: NbdDisk): Promise<Buffer[]> => [
      await from.read(512, early.length),
      await from.read(5 * MIB, MIB),
      await from.read(7 * MIB, 512),
    ];
    const expected = [early, Buffer.concat([Buffer.alloc(64 * KIB), late.subarray(64 * KIB)]), Buffer.alloc(512)];
    expect((await read(disk)).map((part, i) => part.equals(expected[i] ?? early))).toEqual([true, true, true]);
    await disk.flush();
    await close(disk);
    const again = await open();
    expect((await read(again)).map((part, i) => part.equals(expected[i] ?? early))).toEqual([true, true, true]);
    await expect(again.read(8 * MIB - 1, 2)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test('finds the parts that its file has itself, and not those of the file below', async () => {
    await write('1M');
    const overlay = join(folder, 'overlay.qcow2');
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', path, overlay]);
    await execute('qemu-img', ['rebase', '-q', '-u', '-f', 'qcow2', '-b', '', overlay]);
    await execute('qemu-io', ['-f', 'qcow2', '-c', 'write -z 3M 64k', '-c', 'write -P 7 6M 64k', overlay]);
    expect(await (await open({ marks: 'allocated' }, overlay)).marked()).toEqual([
      { offset: 3 * MIB, length: 64 * KIB },
      { offset: 6 * MIB, length: 64 * KIB },
    ]);
    expect(await (await open({ marks: 'allocated' })).marked()).toEqual([{ offset: MIB, length: 64 * KIB }]);
  });

  test('finds the parts that a bitmap marks, and refuses a bitmap that is missing or was not closed', async () => {
    await execute('qemu-img', ['bitmap', '--add', '-f', 'qcow2', path, 'since-then']);
    await write('2M');
    await write('2112k');
    await write('7M');
    const marks = { bitmap: 'since-then' };
    const disk = await open({ marks });
    expect(await disk.marked()).toEqual([
      { offset: 2 * MIB, length: 128 * KIB },
      { offset: 7 * MIB, length: 64 * KIB },
    ]);
    expect([...new Set(await disk.read(7 * MIB, 4 * KIB))]).toEqual([7]);
    await close(disk);
    await expect(open({ marks: { bitmap: 'other-one' } })).rejects.toThrow('other-one');
    const writer = await open({ access: 'write' });
    await writer.write(0, Buffer.alloc(512, 1));
    await writer.flush();
    await servers.at(-1)?.stop();
    await expect(open({ marks })).rejects.toThrow('since-then');
  });

  test('fails when its program is killed, also for requests that wait', async () => {
    const disk = await open({ access: 'write' });
    const writes = Array.from({ length: 8 }, (_none, at) => disk.write(at * MIB, Buffer.alloc(MIB, 'x')));
    const outcomes = Promise.allSettled(writes);
    await servers.at(-1)?.stop();
    await outcomes;
    await expect(disk.read(0, 512)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });
});

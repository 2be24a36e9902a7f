import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock } from '@headgate/domain-contracts';
import { runProgram } from '../programs/run-program.js';
import { NbdServer } from './nbd-server.js';
import type { NbdWriter } from './nbd-writer.js';

const MIB = 1024 ** 2;
const execute = promisify(execFile);
const hasPrograms = (await runProgram('qemu-nbd', ['--version'], { timeoutMs: 60_000 })).code === 0;
const never = new AbortController().signal;

(hasPrograms ? describe : describe.skip)('a disk that is written through qemu-nbd', () => {
  let folder: string;
  let disk: string;
  let server: NbdServer;
  let writer: NbdWriter;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-writer-'));
    disk = join(folder, 'disk.qcow2');
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', disk, String(8 * MIB)]);
    server = NbdServer.start({ path: disk, format: 'qcow2' }, folder, { access: 'write' });
    writer = await server.openWriter(new SystemClock(), never);
  });
  afterEach(async () => {
    writer.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const content = async (): Promise<Buffer> => {
    const raw = join(folder, 'disk.raw');
    await execute('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', disk, raw]);
    return readFile(raw);
  };

  test('has the written parts and zeros around them, and its program ends on its own', async () => {
    expect(writer.diskBytes).toBe(8 * MIB);
    const expected = Buffer.alloc(8 * MIB);
    for (let at = 0; at < 6; at++) {
      const part = randomBytes(MIB / 2);
      part.copy(expected, at * MIB);
      await writer.write(at * MIB, part);
    }
    await writer.flush();
    writer.close();
    await server.whenEnded();
    expect((await content()).equals(expected)).toBe(true);
  });

  test('is reached in a folder whose path is longer than those of sockets may be', async () => {
    const long = join(folder, 'f'.repeat(120));
    await mkdir(long);
    const path = join(long, 'disk.qcow2');
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', path, String(MIB)]);
    const other = NbdServer.start({ path, format: 'qcow2' }, long, { access: 'write' });
    try {
      const opened = await other.openWriter(new SystemClock(), never);
      await opened.write(0, Buffer.from('x'));
      await opened.flush();
      opened.close();
    } finally {
      await other.stop();
    }
    const { stdout } = await execute('qemu-io', ['-r', '-f', 'qcow2', '-c', 'read -P 0x78 0 1', path]);
    expect(stdout).toMatch('read 1/1 bytes');
    expect(stdout).not.toMatch('failed');
  });

  test('refuses data behind its end, and can be written further', async () => {
    await expect(writer.write(8 * MIB - 1, Buffer.alloc(2))).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    await writer.write(8 * MIB - 1, Buffer.from('x'));
    await writer.flush();
  });

  test('fails when its program is killed', async () => {
    await server.stop();
    const writing = async (): Promise<void> => {
      for (let at = 0; at < 8; at++) await writer.write(at * MIB, Buffer.alloc(MIB, 'x'));
      await writer.flush();
    };
    await expect(writing()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test('is busy for any other program', async () => {
    const other = NbdServer.start({ path: disk, format: 'qcow2' }, await mkdtemp(join(folder, 'other-')), {
      access: 'write',
    });
    await expect(other.openWriter(new SystemClock(), never)).rejects.toMatchObject({ code: 'BUSY' });
    await other.stop();
  });
});

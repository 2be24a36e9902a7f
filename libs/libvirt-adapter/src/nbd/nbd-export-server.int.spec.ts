import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runProgram } from '../programs/run-program.js';
import { NbdExportServer } from './nbd-export-server.js';

const MIB = 1024 ** 2;
const execute = promisify(execFile);
const hasPrograms = (await runProgram('qemu-img', ['--version'], { timeoutMs: 60_000 })).code === 0;

(hasPrograms ? describe : describe.skip)('disks that are served to the programs of QEMU', () => {
  const content = Buffer.concat([randomBytes(3 * MIB), Buffer.alloc(2 * MIB), randomBytes(MIB + 512)]);
  const damagedAt = 4 * MIB;
  const failures: string[] = [];
  let folder: string;
  let path: string;
  let server: NbdExportServer;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-nbd-'));
    path = join(folder, 'nbd.sock');
    failures.splice(0);
    const read = async (offset: number, length: number): Promise<Buffer> => content.subarray(offset, offset + length);
    const exports = new Map([
      ['vda', { sizeBytes: content.length, read }],
      [
        'vdb with a space',
        {
          sizeBytes: content.length,
          read: async (offset: number, length: number) => {
            if (offset <= damagedAt && damagedAt < offset + length) throw new Error('blob 1234 is damaged');
            return read(offset, length);
          },
        },
      ],
    ]);
    server = new NbdExportServer({
      exports,
      path,
      onFailure: (disk, error) => failures.push(`${disk}: ${(error as Error).message}`),
    });
    await server.listen();
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const uri = (name: string): string => `nbd+unix:///${encodeURIComponent(name)}?socket=${path}`;

  test('qemu-img reads all of a disk', async () => {
    const info = JSON.parse((await execute('qemu-img', ['info', '--output=json', uri('vda')])).stdout) as object;
    expect(info).toMatchObject({ 'virtual-size': content.length, format: 'raw' });
    const copy = join(folder, 'copy.raw');
    await execute('qemu-img', ['convert', '-f', 'raw', '-O', 'raw', uri('vda'), copy]);
    expect((await readFile(copy)).equals(content)).toBe(true);
    expect(server.readBytes).toBeGreaterThanOrEqual(content.length);
    expect(failures).toEqual([]);
  });

  test('qemu-nbd lists the names', async () => {
    const { stdout } = await execute('qemu-nbd', ['--list', '--socket', path]);
    expect(stdout).toContain("export: 'vda'");
    expect(stdout).toContain("export: 'vdb with a space'");
    expect(stdout).toMatch(/readonly multi/);
  });

  test('qemu-io can neither write nor read a damaged part, and everything around that part', async () => {
    const io = async (...commands: string[]): Promise<string> => {
      const args = ['-r', '-f', 'raw', ...commands.flatMap((one) => ['-c', one]), uri('vdb with a space')];
      const { stdout, stderr } = await execute('qemu-io', args).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      );
      return stdout + stderr;
    };
    expect(await io('read 4M 4k')).toMatch(/Input\/output error/);
    expect(failures).toEqual(['vdb with a space: blob 1234 is damaged']);
    expect(await io('read 3M 1M')).toMatch(/read 1048576\/1048576 bytes/);
    const writing = execute('qemu-io', ['-f', 'raw', '-c', 'write 0 4k', uri('vda')]);
    await expect(writing).rejects.toThrow();
  });

  test('an overlay changes without its backing disk', async () => {
    const overlay = join(folder, 'overlay.qcow2');
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', uri('vda'), overlay]);
    const commands = ['-c', 'write -P 7 4k 4k', '-c', 'read -P 7 4k 4k', '-c', 'read -P 0 4M 4k'];
    const { stdout } = await execute('qemu-io', ['-f', 'qcow2', ...commands, overlay]);
    expect(stdout).not.toMatch(/verification failed|error/i);
    expect((await stat(overlay)).size).toBeLessThan(2 * MIB);
  });

  test('a server that ends while a program reads leaves no socket behind', async () => {
    await server.close();
    await expect(stat(path)).rejects.toThrow('ENOENT');
    await expect(execute('qemu-img', ['info', uri('vda')])).rejects.toThrow();
  });
});

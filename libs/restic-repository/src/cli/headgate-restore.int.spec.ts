import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryTarget } from '../target/directory-target.js';
import { RealRestic, testOnRestic } from '../testing/real-restic.js';
import { backUp, createSample, MIB, noise, PASSWORD } from '../testing/sample-repository.js';

const project = join(import.meta.dirname, '../..');
const vite = join(project, '../../node_modules/vite/bin/vite.js');

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('headgate-restore, built and started as a program', () => {
  let folder: string;
  let program: string;
  let repository: string;
  let id: string;
  const disk = Buffer.concat([noise('disk', MIB), Buffer.alloc(8 * MIB), noise('end', 100)]);

  const run = (args: readonly string[], env: Record<string, string> = { RESTIC_PASSWORD: PASSWORD }): Promise<Result> =>
    new Promise((resolve) => {
      execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      });
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restore-'));
    // In its own folder, so that it has to work without node_modules.
    execFileSync(process.execPath, [vite, 'build', '--outDir', join(folder, 'dist'), '--logLevel', 'error'], {
      cwd: project,
    });
    program = join(folder, 'dist/headgate-restore.js');
    repository = join(folder, 'repository');
    const sample = await createSample(new DirectoryTarget(repository));
    id = await backUp(sample.repository, { 'web/vda.raw': disk, 'web/\x1b[31mred': Buffer.from('x') });
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('lists snapshots and files, without control characters of names', async () => {
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, `${PASSWORD}\n`);
    const listed = await run(['-r', repository, '--password-file', passwordFile, 'list'], {});
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toContain(`${id.slice(0, 8)}  2026-03-01T12:00:00.000Z  node-a  /vm/web`);
    const files = await run(['files', 'latest'], { RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: PASSWORD });
    expect(files.stdout).toContain(`${disk.length}  /web/vda.raw`);
    expect(files.stdout).toContain('/web/\\x1b[31mred');
  });

  test('restores a file with holes, and never over an existing file', async () => {
    const out = join(folder, 'out.raw');
    expect(await run(['-r', repository, 'restore', id.slice(0, 10), 'web/vda.raw', out])).toMatchObject({ code: 0 });
    expect((await readFile(out)).equals(disk)).toBe(true);
    const { size, blocks } = await stat(out);
    expect(size).toBe(disk.length);
    expect(blocks * 512).toBeLessThan(3 * MIB);
    const again = await run(['-r', repository, 'restore', 'latest', 'web/vda.raw', out]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('EEXIST') as string });
  });

  test.each([
    [['list'], 2, 'RESTIC_PASSWORD'],
    [['restore', 'latest'], 2, 'SNAPSHOT PATH FILE'],
    [['--password', 'secret', 'list'], 2, '--password'],
    [['steal'], 2, 'COMMAND: steal is unknown'],
  ])('refuses %j and says why', async (args, code, text) => {
    const result = await run(['-r', repository, ...args], {});
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(text);
    expect(result.stderr).not.toMatch(/\n {4}at /);
  });

  test('reports a wrong password, unknown snapshots and paths without a stack trace', async () => {
    const wrong = await run(['-r', repository, 'list'], { RESTIC_PASSWORD: 'wrong' });
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toBe('The password opens no key of the repository.\n');
    const unknown = await run(['-r', repository, 'files', 'ffff']);
    expect(unknown.stderr).toMatch(/^SNAPSHOT: ffff is (no ID of a snapshot|the beginning)/);
    const path = await run(['-r', repository, 'restore', 'latest', '../../etc/passwd', join(folder, 'none')]);
    expect(path.stderr).toMatch(/^path: /);
  });

  testOnRestic('keeps running when restic looks whether the process of its lock is alive', async () => {
    const copy = join(folder, 'copy');
    await cp(repository, copy, { recursive: true });
    const [pack] = await new DirectoryTarget(copy).list('data');
    const path = join(copy, 'data', (pack?.name ?? '').slice(0, 2), pack?.name ?? '');
    await rm(path);
    // The check waits here until the test opens the other end.
    execFileSync('mkfifo', [path]);
    const check = run(['-r', copy, 'check', '--read-data']);
    const target = new DirectoryTarget(copy);
    while ((await target.list('locks')).length === 0) await new Promise(setImmediate);
    const restic = new RealRestic(copy, PASSWORD);
    expect((await restic.attempt('prune')).stderr).toContain('already locked by PID');
    await restic.run('unlock');
    expect(await target.list('locks')).toHaveLength(1);
    // Opened for both, a FIFO neither waits nor breaks when the check reads nothing of it.
    const gate = await open(path, 'r+');
    await rm(path);
    await writeFile(path, 'no pack');
    await gate.write('no pack');
    await gate.close();
    expect(await check).toMatchObject({ code: 3, stdout: expect.stringContaining('problems') as string });
    expect(await target.list('locks')).toEqual([]);
  });
});

import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockedError } from './model/errors.js';
import { ResticRepository } from './repository.js';
import { keep, type KeepPolicy } from './retention/keep.js';
import { DirectoryTarget } from './target/directory-target.js';
import type { FileType } from './target/repository-target.js';
import { describeOnRestic, RealRestic } from './testing/real-restic.js';
import { backUp, backupInput, CHEAP, MIB, noise, PASSWORD, readFile } from './testing/sample-repository.js';

interface ForgetGroup {
  readonly keep: { readonly id: string }[] | null;
  readonly reasons: { readonly snapshot: { readonly time: string }; readonly matches: string[] }[];
}

/** Fails at the Nth change, as a process that is killed. */
class KilledTarget extends DirectoryTarget {
  constructor(
    folder: string,
    private left: number,
  ) {
    super(folder);
  }

  override write(type: FileType, name: string, bytes: Uint8Array): Promise<void> {
    return this.left-- > 0 ? super.write(type, name, bytes) : Promise.reject(new Error('killed'));
  }

  override remove(type: FileType, name: string): Promise<void> {
    return this.left-- > 0 ? super.remove(type, name) : Promise.reject(new Error('killed'));
  }
}

describeOnRestic('the rules of restic and of this library', () => {
  let folder: string;
  let repositoryFolder: string;
  let repository: ResticRepository;
  let restic: RealRestic;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restic-'));
    repositoryFolder = join(folder, 'repository');
    repository = await ResticRepository.create(new DirectoryTarget(repositoryFolder), PASSWORD, { scrypt: CHEAP });
    restic = new RealRestic(repositoryFolder, PASSWORD);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('keep the same snapshots for the same reasons', async () => {
    const times = [
      '2024-12-29T23:59:59Z',
      '2024-12-30T00:00:00Z',
      '2024-12-31T23:30:00Z',
      '2025-01-01T00:30:00Z',
      '2025-06-01T10:00:00Z',
      '2025-06-01T10:59:59Z',
      '2025-06-01T11:00:00Z',
      '2025-06-08T11:00:00Z',
      '2026-02-28T12:00:00Z',
      '2026-03-01T12:00:00Z',
    ];
    for (const time of times) await backUp(repository, {}, { time: new Date(time) });
    const snapshots = await repository.snapshots();
    const policies: KeepPolicy[] = [
      { last: 3 },
      { hourly: 3 },
      { daily: 4, yearly: 1 },
      { weekly: 5 },
      { monthly: 20 },
      { yearly: 2, last: 1 },
      { last: 1, hourly: 2, daily: 3, weekly: 4, monthly: 5, yearly: 6 },
    ];
    for (const policy of policies) {
      const options = Object.entries(policy).flatMap(([rule, count]) => [`--keep-${rule}`, `${count}`]);
      const printed = await restic.run('forget', '--dry-run', '--json', ...options);
      const [group] = JSON.parse(printed) as ForgetGroup[];
      const expected = group?.reasons.map(({ snapshot, matches }) => [
        Date.parse(snapshot.time),
        matches.map((match) => match.replace(' snapshot', '')),
      ]);
      const kept = keep(snapshots, policy, 'UTC').filter(({ reasons }) => reasons.length > 0);
      const ours = kept.map(({ snapshot, reasons }) => [Date.parse(snapshot.time), reasons]);
      // Older versions than 0.16 don't keep the oldest one while counts are left.
      const isNotOldest = ([time]: unknown[]): boolean => time !== Date.parse(snapshots[0]?.time ?? '');
      expect(ours.filter(isNotOldest)).toEqual(expected?.filter(isNotOldest));
      expect(ours.length).toBeGreaterThanOrEqual(expected?.length ?? 0);
    }
  });

  test('respect the locks of each other', async () => {
    const first = await backUp(repository, { disk: noise('disk', MIB) });
    // A lock of another machine: restic would send SIGHUP to this process, whose real listeners Jest keeps from tests.
    const elsewhere = await ResticRepository.open(new DirectoryTarget(repositoryFolder), PASSWORD, {
      hostname: 'elsewhere',
    });
    await elsewhere.backup(backupInput(), async (writer) => {
      await writer.data('a', Buffer.of(1));
      const prune = await restic.attempt('prune');
      expect(prune.code).not.toBe(0);
      expect(prune.stderr).toContain('already locked by PID');
      // Stale locks go, but this one is alive.
      await restic.run('unlock');
      expect((await restic.attempt('prune')).code).not.toBe(0);
      expect(await restic.run('ls', first)).toContain('/disk');
    });
    // A backup of restic from a pipe that stays open holds its shared lock.
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', RESTIC_PASSWORD: PASSWORD };
    const args = ['--repo', repositoryFolder, '--no-cache', 'backup', '--stdin', '--stdin-filename', 'pipe'];
    const backup = spawn('restic', args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = new Promise((resolve) => backup.once('exit', resolve));
    const locks = new DirectoryTarget(repositoryFolder);
    while ((await locks.list('locks')).length === 0) await new Promise(setImmediate);
    await expect(repository.prune()).rejects.toThrow(LockedError);
    const meanwhile = await backUp(repository, { disk: noise('disk', MIB) });
    backup.kill('SIGKILL');
    await ended;
    // The lock of the killed restic is stale.
    await repository.forget([first]);
    await repository.prune({ repackAbove: 0 });
    expect(await restic.run('check', '--read-data')).toContain('no errors were found');
    expect((await readFile(repository, meanwhile, 'disk')).equals(noise('disk', MIB))).toBe(true);
  });

  test('agree that a killed backup, forget or prune has left the repository intact', async () => {
    const gone = await backUp(repository, { disk: noise('disk', 2 * MIB), gone: noise('gone', 2 * MIB) });
    const kept = await backUp(repository, { disk: noise('disk', 2 * MIB) });
    const operations: [string, number[], (killed: ResticRepository) => Promise<unknown>][] = [
      ['backup', [1, 3, 4], (killed) => backUp(killed, { disk: noise('new', MIB) })],
      ['forget', [1], (killed) => killed.forget([gone])],
      ['prune', [1, 2, 3, 5, 6], (killed) => killed.prune({ repackAbove: 0 })],
    ];
    for (const [name, moments, operation] of operations) {
      if (name === 'prune') await repository.forget([gone]);
      for (const moment of moments) {
        const copy = join(folder, `${name}-${moment}`);
        await cp(repositoryFolder, copy, { recursive: true });
        const killed = await ResticRepository.open(new KilledTarget(copy, moment), PASSWORD);
        await expect(operation(killed)).rejects.toThrow('killed');
        // The process of the lock is this one, which is alive.
        for (const lock of await new DirectoryTarget(copy).list('locks')) await rm(join(copy, 'locks', lock.name));
        const peer = new RealRestic(copy, PASSWORD);
        expect(await peer.run('check', '--read-data')).toContain('no errors were found');
        expect(await peer.run('ls', kept)).toContain('/disk');
      }
    }
  });

  test('find the same damage', async () => {
    await backUp(repository, { disk: noise('disk', 3 * MIB) });
    const target = new DirectoryTarget(repositoryFolder);
    const [pack] = (await target.list('data')).sort((a, b) => b.size - a.size);
    const name = pack?.name ?? '';
    const bytes = Buffer.from(await target.read('data', name));
    bytes.writeUInt8(bytes.readUInt8(1_500_000) ^ 4, 1_500_000);
    const path = join(repositoryFolder, 'data', name.slice(0, 2), name);
    await rm(path);
    await writeFile(path, bytes);
    const result = await restic.attempt('check', '--read-data');
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain(name.slice(0, 8));
    const report = await repository.check({ readData: true });
    expect(report.problems[0]).toMatchObject({ kind: 'pack', id: name });
  });
});

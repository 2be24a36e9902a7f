import { mkdtemp, readFile as readLocal, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ResticRepository } from './repository.js';
import { DirectoryTarget } from './target/directory-target.js';
import { describeOnRestic, RealRestic } from './testing/real-restic.js';
import { backUp, backupInput, fromBytes, MIB, noise, PASSWORD, readFile } from './testing/sample-repository.js';

interface ListedNode {
  readonly path: string;
  readonly type: string;
  readonly size?: number;
}

describeOnRestic('restic and this library on the same repository', () => {
  let folder: string;
  let repositoryFolder: string;
  let target: DirectoryTarget;
  let restic: RealRestic;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restic-'));
    repositoryFolder = join(folder, 'repository');
    target = new DirectoryTarget(repositoryFolder);
    restic = new RealRestic(repositoryFolder, PASSWORD);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('restic checks, lists and restores what the library has written', async () => {
    const repository = await ResticRepository.create(target, PASSWORD);
    const disk = Buffer.concat([noise('disk', 3 * MIB), Buffer.alloc(4 * MIB), noise('end', 1000)]);
    const manifest = Buffer.from('{"name":"web"}');
    const odd = 'a "quoted" \\ name\n\t of ünïcode 🙂';
    const id = await backUp(repository, {
      'web/disks/vda.raw': disk,
      'web/manifest.json': manifest,
      [`web/${odd}`]: Buffer.from('odd'),
      'web/empty': Buffer.alloc(0),
    });

    expect(await restic.run('check', '--read-data')).toContain('no errors were found');
    expect(await restic.json('snapshots')).toEqual([
      expect.objectContaining({
        id,
        hostname: 'node-a',
        paths: ['/vm/web'],
        tags: ['headgate'],
        time: '2026-03-01T12:00:00Z',
      }),
    ]);
    const listed = (await restic.run('ls', id, '--json')).trim().split('\n');
    const nodes = listed.slice(1).map((line) => JSON.parse(line) as ListedNode);
    expect(nodes.filter(({ type }) => type === 'file').map(({ path, size }) => [path, size ?? 0])).toEqual([
      [`/web/${odd}`, 3],
      ['/web/disks/vda.raw', disk.length],
      ['/web/empty', 0],
      ['/web/manifest.json', manifest.length],
    ]);
    await restic.run('restore', id, '--target', join(folder, 'out'));
    expect((await readLocal(join(folder, 'out/web/disks/vda.raw'))).equals(disk)).toBe(true);
    expect(await readLocal(join(folder, 'out/web', odd), 'utf8')).toBe('odd');
    expect(await restic.run('dump', id, '/web/manifest.json')).toBe(manifest.toString());
  });

  test('the library reads what restic has written, also with several passwords', async () => {
    await restic.run('init');
    const source = join(folder, 'disk.raw');
    const disk = Buffer.concat([noise('restic', 5 * MIB), Buffer.alloc(20 * MIB), noise('tail', 12_345)]);
    await writeFile(source, disk);
    await writeFile(join(folder, 'second'), 'second password');
    await restic.run('backup', source, '--tag', 'one,two', '--host', 'node-b');
    await restic.run('key', 'add', '--new-password-file', join(folder, 'second'));
    for (const password of [PASSWORD, 'second password']) {
      const repository = await ResticRepository.open(target, password);
      const [snapshot] = await repository.snapshots();
      expect(snapshot).toMatchObject({ hostname: 'node-b', paths: [source], tags: ['one', 'two'] });
      const id = snapshot?.id ?? '';
      expect(await repository.files(id)).toMatchObject([{ path: source, size: disk.length }]);
      expect((await readFile(repository, id, source)).equals(disk)).toBe(true);
      const file = await repository.openFile(id, source);
      const at = 5 * MIB - 100;
      expect(Buffer.from(await file.read(at, 3 * MIB)).equals(disk.subarray(at, at + 3 * MIB))).toBe(true);
      expect((await repository.check({ readData: true })).problems).toEqual([]);
    }
  });

  test('both back up in turn, forget, prune, and stay intact', async () => {
    await restic.run('init');
    const repository = await ResticRepository.open(target, PASSWORD);
    const source = join(folder, 'disk.raw');
    const disk = noise('both', 3 * MIB);
    await writeFile(source, disk);
    await restic.run('backup', source);
    const first = await backUp(repository, { 'disk.raw': disk });
    const changed = Buffer.from(disk);
    noise('change', 100).copy(changed, MIB + 5);
    const second = await repository.backup(backupInput(), async (writer) => {
      const report = await writer.file(
        'disk.raw',
        fromBytes(changed, {
          parent: { snapshotId: first, path: 'disk.raw' },
          changed: [{ offset: MIB + 5, length: 100 }],
        }),
      );
      expect(report).toMatchObject({ blocks: 3, readBlocks: 1, reusedBlocks: 2, newBlocks: 1 });
    });
    expect(await restic.run('check', '--read-data')).toContain('no errors were found');
    await repository.forget([first]);
    const report = await repository.prune({ repackAbove: 0 });
    expect(report.repackedPacks).toBe(1);
    expect(await restic.run('check', '--read-data')).toContain('no errors were found');
    expect((await readFile(repository, second.id, 'disk.raw')).equals(changed)).toBe(true);

    await restic.run('forget', second.id, '--prune', '--max-unused', '0');
    expect(await repository.check({ readData: true })).toMatchObject({ isIntact: true, snapshots: 1 });
    const [rest] = await repository.snapshots();
    expect((await readFile(repository, rest?.id ?? '', source)).equals(disk)).toBe(true);
  });
});

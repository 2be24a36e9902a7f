import { DamagedError, MissingBlobError, NotARepositoryError, WrongPasswordError } from './model/errors.js';
import { MemoryTarget } from './testing/memory-target.js';
import { backUp, createSample, MIB, noise, readFile, reopen } from './testing/sample-repository.js';
import { ResticRepository } from './repository.js';

const flipBit =
  (at: number) =>
  (bytes: Buffer): Buffer => {
    const position = at < 0 ? bytes.length + at : at;
    bytes.writeUInt8(bytes.readUInt8(position) ^ 1, position);
    return bytes;
  };

const idOf = (key: string): string => key.slice(key.indexOf('/') + 1);

describe('damage', () => {
  const good = noise('good', MIB);
  const bad = noise('bad', 3 * MIB);
  let target: MemoryTarget;
  let intact: string;
  let affected: string;
  /** Packs and indexes in the order of the two backups. */
  let packs: string[];
  let indexes: string[];

  beforeEach(async () => {
    const sample = await createSample();
    target = sample.target as MemoryTarget;
    intact = await backUp(sample.repository, { 'a/good': good }, { time: new Date('2026-01-01') });
    const before = target.names('data').length;
    affected = await backUp(sample.repository, { 'b/bad': bad, 'b/good': good }, { time: new Date('2026-01-02') });
    packs = target.names('data').slice(before);
    indexes = target.names('index');
  });

  const check = async () => (await reopen(target)).check({ readData: true });

  async function expectRestorable(id: string, path: string, bytes: Uint8Array): Promise<void> {
    expect((await readFile(await reopen(target), id, path)).equals(bytes)).toBe(true);
  }

  test('in the body of a pack names the pack, the blob, and the part of the file', async () => {
    const [pack = ''] = packs;
    target.damage(pack, flipBit(MIB + 100_000));
    const report = await check();
    expect(report.problems.map(({ kind }) => kind)).toEqual(['pack', 'blob']);
    expect(report.problems[0]).toMatchObject({ id: idOf(pack) });
    expect(report.affected).toHaveLength(1);
    expect(report.affected[0]).toMatchObject({ snapshotId: affected, path: '/b/bad', ranges: [{ length: MIB }] });
    const [range] = report.affected[0]?.ranges ?? [];

    await expectRestorable(affected, 'b/good', good);
    const file = await (await reopen(target)).openFile(affected, 'b/bad');
    const failed: number[] = [];
    for await (const block of file.blocks()) {
      const at = block.offset;
      try {
        expect(Buffer.from(await block.bytes()).equals(bad.subarray(at, at + block.length))).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedError);
        failed.push(at);
      }
    }
    expect(failed).toEqual([range?.offset]);
    await expect(file.read(range?.offset ?? 0, 10)).rejects.toThrow(DamagedError);
  });

  test('in the header of a pack is found, and everything can still be read', async () => {
    target.damage(packs[0] ?? '', flipBit(-20));
    const report = await check();
    expect(report.problems).toMatchObject([{ kind: 'pack', id: idOf(packs[0] ?? '') }]);
    expect(report.affected).toEqual([]);
    await expectRestorable(affected, 'b/bad', bad);
  });

  test('in a pack of trees affects the snapshot that needs it', async () => {
    target.damage(packs[1] ?? '', flipBit(50));
    const report = await check();
    expect(report.problems.map(({ kind }) => kind)).toContain('tree');
    expect(report.affected).toMatchObject([{ snapshotId: affected }]);
    await expectRestorable(intact, 'a/good', good);
    await expect((await reopen(target)).files(affected)).rejects.toThrow(DamagedError);
  });

  test('in an index is found, and the headers of the packs replace it', async () => {
    target.damage(indexes[1] ?? '', flipBit(30));
    const report = await check();
    expect(report.problems).toMatchObject([{ kind: 'index', id: idOf(indexes[1] ?? '') }]);
    expect(report.affected).toEqual([]);
    await expectRestorable(affected, 'b/bad', bad);
    await expect((await reopen(target)).prune()).rejects.toThrow(/restic rebuild-index/);
    // The next backup lists the packs again.
    await backUp(await reopen(target), { again: bad });
    target.contents.delete(indexes[1] ?? '');
    expect((await check()).problems).toEqual([]);
  });

  test('in a snapshot is found, and the others can be read', async () => {
    target.damage(`snapshots/${affected}`, flipBit(30));
    expect((await check()).problems).toMatchObject([{ kind: 'snapshot', id: affected }]);
    const repository = await reopen(target);
    expect((await repository.snapshots()).map(({ id }) => id)).toEqual([intact]);
    await expectRestorable(intact, 'a/good', good);
    await expect(repository.prune()).rejects.toThrow(DamagedError);
  });

  test('in the only key or the config keeps the repository closed, with the name of the file', async () => {
    const [key = ''] = target.names('keys');
    const before = target.copy();
    for (const position of [5, -30]) {
      target = before.copy();
      target.damage(key, flipBit(position));
      await expect(reopen(target)).rejects.toThrow(key);
    }
    target = before.copy();
    target.damage('config/config', flipBit(20));
    await expect(reopen(target)).rejects.toMatchObject({ subject: 'config' });
  });

  test('of one key is found while another one opens', async () => {
    target.contents.set(`keys/${'0'.repeat(64)}`, Buffer.from('{}'));
    expect((await check()).problems).toMatchObject([{ kind: 'key', id: '0'.repeat(64) }]);
  });

  test('that cuts a pack or removes it is found without reading data, and the next backup repairs it', async () => {
    const [pack = ''] = packs;
    const before = target.copy();
    for (const cut of [
      () => target.damage(pack, (bytes) => bytes.subarray(0, MIB)),
      () => target.contents.delete(pack),
    ]) {
      target = before.copy();
      cut();
      const report = await (await reopen(target)).check({ readData: false });
      expect(report.problems).toMatchObject([{ kind: 'pack', id: idOf(pack) }]);
      expect(report.affected).toMatchObject([{ snapshotId: affected, path: '/b/bad' }]);
      await expectRestorable(affected, 'b/good', good);
      const next = await backUp(await reopen(target), { 'b/bad': bad });
      await expectRestorable(next, 'b/bad', bad);
      await expectRestorable(affected, 'b/bad', bad);
    }
  });

  test.each(['snapshots', 'index', 'keys', 'config'] as const)('that cuts a file in %s is found', async (type) => {
    for (const name of target.names(type)) target.damage(name, (bytes) => bytes.subarray(0, 10));
    if (type === 'keys' || type === 'config') await expect(reopen(target)).rejects.toThrow(DamagedError);
    else expect((await check()).isIntact).toBe(false);
  });

  test('of a pack that takes the name of another is found', async () => {
    const [data = ''] = packs;
    target.contents.set(data, target.contents.get(target.names('data')[0] ?? '') ?? Buffer.of());
    expect((await check()).problems).toContainEqual(expect.objectContaining({ kind: 'pack', id: idOf(data) }));
    await expect(readFile(await reopen(target), affected, 'b/bad')).rejects.toThrow(DamagedError);
  });

  test('is never pruned away: a missing blob stops the prune before it removes anything', async () => {
    target.contents.delete(packs[0] ?? '');
    const repository = await reopen(target);
    await repository.forget([intact]);
    const before = [...target.contents.keys()].sort();
    await expect(repository.prune({ repackAbove: 0 })).rejects.toThrow(MissingBlobError);
    expect([...target.contents.keys()].sort()).toEqual(before);
  });

  test('of a blob stops its repacking before anything is removed', async () => {
    const repository = await reopen(target);
    await backUp(repository, { half: bad.subarray(0, MIB) });
    await repository.forget([affected]);
    target.damage(packs[0] ?? '', (bytes) => bytes.map((byte) => byte ^ 1) as Buffer);
    const before = target.names('data').sort();
    await expect((await reopen(target)).prune({ repackAbove: 0 })).rejects.toThrow(DamagedError);
    expect(target.names('data')).toEqual(expect.arrayContaining(before));
  });

  test('a wrong password and a missing repository have their own errors', async () => {
    await expect(ResticRepository.open(target, 'wrong')).rejects.toThrow(WrongPasswordError);
    await expect(reopen(new MemoryTarget())).rejects.toThrow(NotARepositoryError);
  });
});

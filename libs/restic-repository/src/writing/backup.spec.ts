import { CanceledError, InvalidInputError } from '../model/errors.js';
import type { FileInput, SnapshotWriter } from '../model/types.js';
import type { ResticRepository } from '../repository.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MemoryTarget } from '../testing/memory-target.js';
import {
  backUp,
  backupInput,
  createSample,
  fromBytes,
  MIB,
  noise,
  readFile,
  reopen,
} from '../testing/sample-repository.js';

describe('a backup', () => {
  let target: MemoryTarget;
  let repository: ResticRepository;

  beforeEach(async () => {
    const sample = await createSample();
    target = sample.target as MemoryTarget;
    repository = sample.repository;
  });

  const storeOne = async (input: FileInput) => {
    let report: Awaited<ReturnType<SnapshotWriter['file']>> | undefined;
    const { id } = await repository.backup(backupInput(), async (writer) => {
      report = await writer.file('disk', input);
    });
    return { id, report };
  };

  const dataBytes = () => target.names('data').reduce((sum, key) => sum + (target.contents.get(key)?.length ?? 0), 0);

  test('stores zeros once, whatever their amount', async () => {
    const disk = Buffer.concat([Buffer.alloc(40 * MIB), noise('x', 10), Buffer.alloc(5 * MIB)]);
    const { id, report } = await storeOne(fromBytes(disk));
    expect(report).toMatchObject({ blocks: 46, readBlocks: 46, zeroBlocks: 45 });
    expect(dataBytes()).toBeLessThan(6000);
    expect((await readFile(repository, id, 'disk')).equals(disk)).toBe(true);
    const file = await repository.openFile(id, 'disk');
    const isZero: boolean[] = [];
    for await (const block of file.blocks()) isZero.push(block.isZero);
    expect(isZero.filter((zero) => !zero)).toHaveLength(1);
  });

  test('does not read parts that are known to be zeros', async () => {
    const read: number[] = [];
    const { id, report } = await storeOne({
      size: 4 * MIB + 10,
      zeros: [
        { offset: 0, length: MIB },
        { offset: MIB, length: MIB + 1 },
        { offset: 3 * MIB, length: 2 * MIB },
      ],
      read: (offset, length) => {
        read.push(offset);
        return Promise.resolve(noise(`${offset}`, length));
      },
    });
    expect(read).toEqual([2 * MIB]);
    expect(report).toMatchObject({ blocks: 5, readBlocks: 1, zeroBlocks: 4 });
    expect((await (await repository.openFile(id, 'disk')).read(4 * MIB, 100)).length).toBe(10);
  });

  test('stores equal blocks once, within and across backups', async () => {
    const block = noise('same', MIB);
    const first = await storeOne(fromBytes(Buffer.concat([block, block, block])));
    expect(first.report).toMatchObject({ blocks: 3, newBlocks: 1 });
    const second = await storeOne(fromBytes(Buffer.concat([noise('n', MIB), block])));
    expect(second.report).toMatchObject({ newBlocks: 1 });
    expect((await reopen(target)).id).toBe(repository.id);
  });

  test('reads only blocks that have changed since the parent', async () => {
    const disk = noise('disk', 4 * MIB + 100);
    const parent = { snapshotId: await backUp(repository, { disk }), path: 'disk' };
    const changed = Buffer.from(disk);
    noise('c', 10).copy(changed, 2 * MIB - 5);
    const read: number[] = [];
    const input = fromBytes(changed);
    const { id, report } = await storeOne({
      ...input,
      parent,
      changed: [
        { offset: 2 * MIB, length: 5 },
        { offset: 2 * MIB - 5, length: 5 },
        { offset: 0, length: 0 },
      ],
      read: (offset, length) => {
        read.push(offset);
        return input.read(offset, length);
      },
    });
    expect(read.sort((a, b) => a - b)).toEqual([MIB, 2 * MIB]);
    expect(report).toMatchObject({ blocks: 5, readBlocks: 2, reusedBlocks: 3, newBlocks: 2 });
    expect((await readFile(repository, id, 'disk')).equals(changed)).toBe(true);
  });

  test('reads the end of a disk that has grown or shrunk, even if nothing is said to have changed', async () => {
    const disk = noise('disk', 2 * MIB + 100);
    const parent = { snapshotId: await backUp(repository, { disk }), path: 'disk' };
    for (const size of [3 * MIB + 5, 2 * MIB + 50, MIB]) {
      const bytes = Buffer.concat([disk, noise('more', 2 * MIB)]).subarray(0, size);
      const { id } = await storeOne(fromBytes(bytes, { parent, changed: [] }));
      expect((await readFile(repository, id, 'disk')).equals(bytes)).toBe(true);
    }
  });

  test('reads everything if the parent is gone, damaged, or lost its data', async () => {
    const disk = noise('disk', 2 * MIB);
    const parent = { snapshotId: await backUp(repository, { disk }), path: 'disk' };
    const before = target.copy();
    const breaks: (() => unknown)[] = [
      () => repository.forget([parent.snapshotId]),
      () => target.damage(`snapshots/${parent.snapshotId}`, (bytes) => bytes.fill(0, 20, 30)),
      () => target.contents.delete(target.names('data')[0] ?? ''),
    ];
    for (const destroy of breaks) {
      target = before.copy();
      repository = await reopen(target);
      await destroy();
      const { id, report } = await storeOne(fromBytes(disk, { parent, changed: [] }));
      expect(report).toMatchObject({ readBlocks: 2 });
      expect((await readFile(repository, id, 'disk')).equals(disk)).toBe(true);
    }
  });

  test('says that content is equal by its ID, also without reading it', async () => {
    const disk = noise('disk', 2 * MIB);
    const first = await storeOne(fromBytes(disk));
    const second = await storeOne(fromBytes(disk, { parent: { snapshotId: first.id, path: 'disk' }, changed: [] }));
    expect(second.report).toMatchObject({ readBlocks: 0, contentId: first.report?.contentId });
    expect(await repository.files(second.id)).toMatchObject([{ contentId: first.report?.contentId }]);
  });

  test.each(['..', 'a/../b', '/', '', 'a//b', 'a\0', './a', '\ud800'])('refuses the path %j', async (path) => {
    await expect(backUp(repository, { [path]: Buffer.of(1) })).rejects.toThrow(/^path: /);
    expect(await repository.snapshots()).toEqual([]);
  });

  test('refuses a path twice, below a file, and in the place of a folder', async () => {
    for (const paths of [
      ['a', '/a'],
      ['a', 'a/b'],
      ['a/b', 'a'],
    ]) {
      const backup = repository.backup(backupInput(), async (writer) => {
        for (const path of paths) await writer.data(path, Buffer.of(1));
      });
      await expect(backup).rejects.toThrow(InvalidInputError);
    }
  });

  test.each([
    ['size', { size: -1 }],
    ['size', { size: 1.5 }],
    ['changed', { changed: [{ offset: -1, length: 5 }] }],
    ['zeros', { zeros: [{ offset: 0, length: Number.NaN }] }],
    ['mtime', { mtime: 'yesterday' }],
    ['read', { read: () => Promise.resolve(new Uint8Array(3)) }],
  ])('refuses a wrong %s of a file: %j', async (field, values) => {
    await expect(storeOne({ ...fromBytes(noise('x', 10)), ...values })).rejects.toThrow(new RegExp(`^${field}: `));
  });

  test.each([
    ['hostname', { hostname: '' }],
    ['paths', { paths: [] }],
    ['tags', { tags: ['a,b'] }],
    ['time', { time: new Date(Number.NaN) }],
  ])('refuses a wrong %s', async (field, values) => {
    await expect(backUp(repository, {}, values)).rejects.toThrow(new RegExp(`^${field}: `));
    expect(target.names('locks')).toEqual([]);
  });

  test('ends without a snapshot when it is canceled, even if the source never answers', async () => {
    const abort = new AbortController();
    const backup = repository.backup(
      backupInput(),
      async (writer) => {
        await writer.data('small', noise('s', 100));
        await writer.file('disk', {
          size: MIB,
          read: () => {
            abort.abort();
            return new Promise(() => undefined);
          },
        });
      },
      { signal: abort.signal },
    );
    await expect(backup).rejects.toThrow(CanceledError);
    expect(await repository.snapshots()).toEqual([]);
    expect(target.names('locks')).toEqual([]);
  });

  test('refuses calls after its end', async () => {
    let kept: SnapshotWriter | undefined;
    await repository.backup(backupInput(), (writer) => {
      kept = writer;
      return Promise.resolve();
    });
    await expect(kept?.data('late', Buffer.of(1))).rejects.toThrow(InvalidInputError);
  });

  test('waits for files that its caller has not awaited', async () => {
    const { id } = await repository.backup(backupInput(), (writer) => {
      void writer.file('a', fromBytes(noise('a', MIB)));
      void writer.data('b', Buffer.of(1));
      return Promise.resolve();
    });
    expect((await repository.files(id)).map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  test.each(['ENOSPC', 'EROFS', 'EIO'])('passes on %s of the target, and the next one works', async (code) => {
    let left = 2;
    target.intercept = (operation) => {
      if (operation === 'write' && --left < 0) throw Object.assign(new Error(code), { code });
    };
    await expect(backUp(repository, { disk: noise('disk', 40 * MIB) })).rejects.toMatchObject({ code });
    target.intercept = () => undefined;
    expect(await repository.snapshots()).toEqual([]);
    const id = await backUp(repository, { disk: noise('disk', MIB) });
    expect((await readFile(repository, id, 'disk')).equals(noise('disk', MIB))).toBe(true);
    expect((await repository.check({ readData: true })).problems).toEqual([]);
  });

  test('reads no further than a slow target writes', async () => {
    let release = (): void => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    target.intercept = (operation, type) => (operation === 'write' && type === 'data' ? blocked : undefined);
    let read = 0;
    let stalled = (): void => undefined;
    const isStalled = new Promise<void>((resolve) => (stalled = resolve));
    const size = 150 * MIB;
    const backup = repository.backup(backupInput(), async (writer) => {
      await writer.file('disk', {
        size,
        read: (offset, length) => {
          read = Math.max(read, offset + length);
          const bytes = noise(`${offset}`, 4096);
          // Three packs that are written or wait, the one that is built, and the blocks on the way.
          if (read > 55 * MIB) stalled();
          return Promise.resolve(Buffer.alloc(length, bytes).fill(noise(`${offset}`, length / 2), length / 2));
        },
      });
    });
    await Promise.race([backup, isStalled]);
    for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate);
    expect(read).toBeLessThan(size);
    release();
    await backup;
    expect(read).toBe(size);
  });

  test('of two writers on one target at the same time keeps both', async () => {
    const other = await reopen(target, new ManualClock());
    const shared = noise('shared', 3 * MIB);
    const [a, b] = await Promise.all([
      backUp(repository, { disk: shared, a: noise('a', MIB) }),
      backUp(other, { disk: shared, b: noise('b', MIB) }),
    ]);
    expect((await repository.check({ readData: true })).problems).toEqual([]);
    for (const id of [a, b]) expect((await readFile(repository, id, 'disk')).equals(shared)).toBe(true);
    await repository.prune({ repackAbove: 0 });
    expect((await repository.check({ readData: true })).garbage).toEqual({ packs: 0, blobs: 0, bytes: 0 });
    expect((await readFile(other, b, 'b')).equals(noise('b', MIB))).toBe(true);
  });

  test('may be older than the last one after the clock was set back', async () => {
    await backUp(repository, { a: Buffer.of(1) }, { time: new Date('2026-05-01') });
    const id = await backUp(repository, { a: Buffer.of(2) }, { time: new Date('2026-04-01') });
    expect((await repository.snapshots())[0]?.id).toBe(id);
  });

  test('counts what it did', async () => {
    const seen: number[] = [];
    const report = await repository.backup(
      backupInput(),
      async (writer) => {
        await writer.file('disk', fromBytes(Buffer.concat([noise('x', MIB), Buffer.alloc(MIB)])));
      },
      { onProgress: ({ bytes }) => seen.push(bytes) },
    );
    expect(report).toMatchObject({ files: 1, bytes: 2 * MIB, readBytes: 2 * MIB });
    expect(report.storedBytes).toBeGreaterThan(MIB);
    expect(seen).toEqual([MIB, 2 * MIB]);
  });
});

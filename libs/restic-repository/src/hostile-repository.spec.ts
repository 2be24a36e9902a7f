import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { DamagedError, PathNotFoundError, SnapshotNotFoundError, UnsupportedVersionError } from './model/errors.js';
import type { ResticRepository } from './repository.js';
import { HostileRepository } from './testing/hostile-repository.js';
import { MemoryTarget } from './testing/memory-target.js';
import { backUp, createSample, MIB, readFile, reopen } from './testing/sample-repository.js';

const ID = 'ab'.repeat(32);

describe('a repository of an attacker who knows the password', () => {
  let target: MemoryTarget;
  let repository: ResticRepository;
  let hostile: HostileRepository;

  beforeEach(async () => {
    const sample = await createSample();
    target = sample.target as MemoryTarget;
    repository = sample.repository;
    hostile = await HostileRepository.of(target);
  });

  test.each(['..', '.', '', 'a/b', '/etc/passwd', '../../etc/passwd', String.raw`a\x00b`, String.raw`\x2e\x2e`, '"'])(
    'refuses the name %j in a tree',
    async (name) => {
      const data = await hostile.blob({ type: 'data', plain: Buffer.from('x') });
      const tree = await hostile.tree([{ name, type: 'file', size: 1, content: [data] }]);
      const id = await hostile.snapshot(tree);
      await expect(repository.files(id)).rejects.toThrow(/no name of a file/);
      expect((await repository.check({ readData: true })).affected).toEqual([
        { snapshotId: id, path: '/', ranges: [] },
      ]);
    },
  );

  test('refuses the same name twice in a folder', async () => {
    const file = { name: 'a', type: 'file', size: 0, content: [] };
    const id = await hostile.snapshot(await hostile.tree([file, { ...file, type: 'dir', subtree: ID }]));
    await expect(repository.files(id)).rejects.toThrow(/twice/);
  });

  test.each(['../../etc/passwd', '/a/../b', 'a//b', '', '/', 'a\0b', './a'])(
    'refuses to open the path %j',
    async (path) => {
      const id = await backUp(repository, { a: Buffer.from('x') });
      await expect(repository.openFile(id, path)).rejects.toThrow(/^path: /);
    },
  );

  test('never expands a blob to more than the length that its index claims', async () => {
    const bomb = Buffer.alloc(64 * MIB);
    const data = await hostile.blob({ type: 'data', plain: bomb, claimedLength: 1000 });
    const id = await hostile.snapshot(await hostile.tree([{ name: 'a', type: 'file', size: 1000, content: [data] }]));
    await expect(readFile(repository, id, 'a')).rejects.toThrow(/more than 1000 bytes/);
    const report = await repository.check({ readData: true });
    expect(report.affected).toEqual([{ snapshotId: id, path: '/a', ranges: [{ offset: 0, length: 1000 }] }]);
  });

  test('refuses blobs that are shorter than their index claims', async () => {
    const data = await hostile.blob({ type: 'data', plain: Buffer.from('abc'), claimedLength: 5 });
    const id = await hostile.snapshot(await hostile.tree([{ name: 'a', type: 'file', size: 5, content: [data] }]));
    await expect(readFile(repository, id, 'a')).rejects.toThrow(DamagedError);
  });

  test.each([
    ['length', { offset: 0, length: 2 ** 40, uncompressedLength: 1 }],
    ['uncompressed_length', { offset: 0, length: 100, uncompressedLength: 2 ** 40 }],
    ['offset', { offset: -1, length: 100, uncompressedLength: 1 }],
    ['type', { type: 'code', offset: 0, length: 100 }],
    ['id', { id: '../../x', offset: 0, length: 100 }],
  ])('refuses an index with an impossible %s without allocating it', async (_field, fields) => {
    await hostile.index(ID, { id: ID, type: 'data', ...fields });
    expect((await repository.check({ readData: false })).problems).toMatchObject([{ kind: 'index' }]);
  });

  test('refuses a file whose size is not that of its blobs', async () => {
    const data = await hostile.blob({ type: 'data', plain: Buffer.from('abc') });
    const tree = await hostile.tree([{ name: 'a', type: 'file', size: 2 ** 50, content: [data] }]);
    const id = await hostile.snapshot(tree);
    await expect(repository.openFile(id, 'a')).rejects.toThrow(/should have 1125899906842624 bytes/);
  });

  test('refuses a tree that contains itself', async () => {
    const id = await hostile.snapshot(await hostile.tree([{ name: 'a', type: 'dir', subtree: ID }], ID));
    await expect(repository.files(id)).rejects.toThrow(/does not match its ID/);
    expect((await repository.check({ readData: true })).isIntact).toBe(false);
  });

  test('refuses to list the files of trees that multiply', async () => {
    let subtree = await hostile.tree([]);
    for (let depth = 0; depth < 60; depth++) {
      subtree = await hostile.tree([1, 2].map((name) => ({ name: `${name}`, type: 'dir', subtree })));
    }
    const id = await hostile.snapshot(subtree);
    await expect(repository.files(id)).rejects.toThrow(/too many files/);
    expect((await repository.check({ readData: false })).isIntact).toBe(true);
  });

  test('refuses to list the files of trees that are too deep', async () => {
    let subtree = await hostile.tree([]);
    for (let depth = 0; depth < 300; depth++) subtree = await hostile.tree([{ name: 'a', type: 'dir', subtree }]);
    const id = await hostile.snapshot(subtree);
    await expect(repository.files(id)).rejects.toThrow(/nested too deep/);
    expect((await repository.check({ readData: false })).isIntact).toBe(false);
  });

  test('does not follow links and devices of other writers', async () => {
    const tree = await hostile.tree([
      { name: 'link', type: 'symlink', linktarget: '/etc/passwd' },
      { name: 'disk', type: 'dev', device: 1 },
    ]);
    const id = await hostile.snapshot(tree);
    expect(await repository.files(id)).toEqual([]);
    await expect(repository.openFile(id, 'link')).rejects.toThrow(PathNotFoundError);
    await expect(repository.openFile(ID, 'link')).rejects.toThrow(SnapshotNotFoundError);
    await expect(repository.openFile('../config', 'link')).rejects.toThrow(SnapshotNotFoundError);
  });

  test.each([1, 3, '2', undefined])('refuses format version %j', async (version) => {
    hostile.config({ version, id: ID, chunker_polynomial: '25b468838dcb75' });
    await expect(reopen(target)).rejects.toThrow(UnsupportedVersionError);
  });

  test.each([
    { N: 2 ** 30, r: 8, p: 1 },
    { N: 3, r: 8, p: 1 },
    { N: 32_768, r: 2 ** 40, p: 1 },
    { N: 2, r: 1, p: 1_000_000 },
    { N: -2, r: 1, p: 1 },
  ])('refuses a key that asks for scrypt with %j', async (cost) => {
    const bytes = Buffer.from(JSON.stringify({ kdf: 'scrypt', ...cost, salt: 'AAAA', data: 'AAAA' }));
    for (const key of target.names('keys')) target.contents.delete(key);
    target.contents.set(`keys/${createHash('sha256').update(bytes).digest('hex')}`, bytes);
    await expect(reopen(target)).rejects.toThrow(DamagedError);
  });

  test('refuses files that expand without end', async () => {
    const bomb = Buffer.concat([Buffer.from([2]), zstdCompressSync(Buffer.alloc(300 * MIB))]);
    const sealed = hostile.cipher.seal(bomb);
    target.contents.set(`snapshots/${createHash('sha256').update(sealed).digest('hex')}`, sealed);
    expect(await repository.snapshots()).toEqual([]);
  });
});

import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryInUseError, DirectoryLock } from './directory-lock.js';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('DirectoryLock', () => {
  let folder: string;

  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'hgtest-lock-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  test('gives a directory to one holder at a time', () => {
    const lock = DirectoryLock.acquire(folder);
    expect(() => DirectoryLock.acquire(folder)).toThrow(DirectoryInUseError);
    lock.release();
    DirectoryLock.acquire(folder).release();
  });

  test('creates the directory and its parents, for their owner only', () => {
    DirectoryLock.acquire(join(folder, 'a', 'b', 'c')).release();
    for (const path of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(folder, path))).toBe(0o700);
    writeFileSync(join(folder, 'file'), '');
    expect(() => DirectoryLock.acquire(join(folder, 'file', 'x'))).toThrow(/ENOTDIR/);
    expect(() => DirectoryLock.acquire(join(folder, 'file'))).toThrow(/EEXIST/);
  });

  test('gives up in a directory that takes no others', () => {
    expect(() => DirectoryLock.acquire('/proc/headgate')).toThrow(/ENOENT/);
    expect(() => DirectoryLock.acquire('/proc/headgate/data')).toThrow(/ENOENT/);
  });

  test('keeps its file private in a directory that others can read, also one of an earlier version', () => {
    chmodSync(folder, 0o755);
    const umask = process.umask(0o022);
    try {
      DirectoryLock.acquire(folder).release();
      expect(modeOf(join(folder, 'lock'))).toBe(0o600);
      chmodSync(join(folder, 'lock'), 0o644);
      DirectoryLock.acquire(folder).release();
      expect(modeOf(join(folder, 'lock'))).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  test('follows no symbolic link that another user has put in its place', () => {
    const target = join(folder, 'victim');
    writeFileSync(target, '');
    symlinkSync(target, join(folder, 'lock'));
    expect(() => DirectoryLock.acquire(folder)).toThrow(/lock is not a file of this user/);
    expect(statSync(target).size).toBe(0);
  });
});

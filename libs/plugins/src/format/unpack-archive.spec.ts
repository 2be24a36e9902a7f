import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { archiveOf } from '../testing/build-plugin.js';
import { buildTar, type TarEntry } from '../testing/hostile-archive.js';
import { MAX_FILES, MAX_UNPACKED_BYTES, unpackArchive } from './unpack-archive.js';

const MANIFEST: TarEntry = { name: 'plugin.json', content: '{}' };
const MIB = 1024 ** 2;

describe('unpackArchive', () => {
  let root: string;
  let folder: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'headgate-unpack-'));
    folder = join(root, 'plugin');
    mkdirSync(folder);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test.each(['tar', 'tar with gzip'])('writes the files of a %s, but not the manifest', async (form) => {
    const plain = await buildTar(MANIFEST, { name: 'lib', type: 'directory' }, { name: 'lib/a.mjs', content: 'a' });
    const { manifest, files } = await unpackArchive(form === 'tar' ? plain : gzipSync(plain), folder);
    expect(manifest).toBe('{}');
    expect([...files.keys()]).toEqual(['lib/a.mjs']);
    expect(readFileSync(join(folder, 'lib/a.mjs'), 'utf8')).toBe('a');
    expect(readdirSync(folder)).toEqual(['lib']);
  });

  test('gives no file more permissions than reading and writing by its owner', async () => {
    await unpackArchive(await buildTar(MANIFEST, { name: 'a', mode: 0o6777, uid: 0, content: 'a' }), folder);
    expect(statSync(join(folder, 'a')).mode & 0o7777).toBe(0o600);
  });

  test.each<[title: string, entries: TarEntry[], problem: RegExp]>([
    ['a path above the folder', [{ name: '../escaped', content: 'x' }], /contains the path "\.\.\/escaped"/],
    ['a path that climbs in the middle', [{ name: 'a/../../escaped', content: 'x' }], /contains the path/],
    ['an absolute path', [{ name: '/tmp/headgate-escaped', content: 'x' }], /contains the path/],
    ['a path with a backslash', [{ name: '..\\escaped', content: 'x' }], /contains the path/],
    ['a path with a control character', [{ name: 'a\u001b[2J', content: 'x' }], /contains the path/],
    ['a hidden file', [{ name: '.npmrc', content: 'x' }], /contains the path/],
    ['the current folder', [{ name: './a', content: 'x' }], /contains the path/],
    ['an empty part', [{ name: 'a//b', content: 'x' }], /contains the path/],
    ['a deep path', [{ name: 'a/'.repeat(9) + 'b', content: 'x' }], /contains the path/],
    ['a symbolic link', [{ name: 'a', type: 'symlink', linkname: '/etc' }], /"a" of type symlink/],
    [
      'a file through a symbolic link',
      [
        { name: 'a', type: 'symlink', linkname: '..' },
        { name: 'a/escaped', content: 'x' },
      ],
      /"a" of type symlink/,
    ],
    ['a hard link', [{ name: 'a', type: 'link', linkname: '/etc/passwd' }], /"a" of type link/],
    ['a device', [{ name: 'a', type: 'character-device', devmajor: 1, devminor: 3 }], /of type character-device/],
    ['a named pipe', [{ name: 'a', type: 'fifo' }], /of type fifo/],
    [
      'names that differ in case only',
      [
        { name: 'main.mjs', content: 'a' },
        { name: 'MAIN.mjs', content: 'b' },
      ],
      /contains MAIN.mjs more than once/,
    ],
    [
      'a folder that differs from a file in case only',
      [
        { name: 'lib', content: 'a' },
        { name: 'LIB/b', content: 'b' },
      ],
      /uses the file lib as a folder/,
    ],
    ['two manifests', [MANIFEST, { name: 'PLUGIN.json', content: '{}' }], /more than once/],
    [
      'a large manifest',
      [{ name: 'plugin.json', content: Buffer.alloc(65 * 1024, ' ') }],
      /plugin.json of more than 64Ki/,
    ],
    ['no manifest', [{ name: 'a', content: 'x' }], /has no plugin.json/],
  ])('refuses %s', async (_title, entries, problem) => {
    const isOwn = entries.some(({ name }) => name === 'plugin.json');
    const archive = await buildTar(...entries, ...(isOwn || problem.source.startsWith('has no') ? [] : [MANIFEST]));
    await expect(unpackArchive(archive, folder)).rejects.toMatchObject({
      code: 'INVALID_PLUGIN',
      message: expect.stringMatching(problem) as string,
    });
    expect(readdirSync(root)).toEqual(['plugin']);
    expect(existsSync('/tmp/headgate-escaped')).toBe(false);
  });

  test('refuses more files than a plugin may have', async () => {
    const entries = Array.from({ length: MAX_FILES + 1 }, (_, index) => ({ name: `f${index}`, content: 'x' }));
    await expect(unpackArchive(await buildTar(MANIFEST, ...entries), folder)).rejects.toThrow(/more than 500 files/);
  });

  test('ends a bomb at the limit, without storing more', async () => {
    const bomb = gzipSync(await buildTar(MANIFEST, { name: 'zeros', content: Buffer.alloc(2 * MAX_UNPACKED_BYTES) }));
    expect(bomb.length).toBeLessThan(MIB);
    await expect(unpackArchive(bomb, folder)).rejects.toThrow(/unpacks to more than 64Mi/);
    expect(statSync(join(folder, 'zeros')).size).toBeLessThanOrEqual(MAX_UNPACKED_BYTES);
  });

  test.each<[title: string, damage: (archive: Buffer) => Buffer]>([
    ['a truncated archive', (archive) => archive.subarray(0, 700)],
    ['a wrong header', (archive) => Buffer.concat([Buffer.alloc(512, 7), archive])],
    ['a truncated gzip stream', (archive) => gzipSync(archive).subarray(0, 60)],
    ['text', () => Buffer.from('<html>not found</html>'.repeat(60))],
    ['nothing', () => Buffer.alloc(0)],
  ])('refuses %s', async (_title, damage) => {
    await expect(unpackArchive(damage(await archiveOf()), folder)).rejects.toMatchObject({ code: 'INVALID_PLUGIN' });
  });
});

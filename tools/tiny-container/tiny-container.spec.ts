import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';
import { buildTinyContainer } from './build.mjs';
import { packTar } from './tar.mjs';

let folders: string[] = [];
const freshFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-container-spec-'));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders = [];
});

// The suite is skipped, with the reason in its title, if a required program is missing.
const missing = ['busybox', 'tar'].filter((program) => !findProgram(program));
const suite = missing.length > 0 ? describe.skip : describe;
suite(missing.length > 0 ? `the tiny container (skipped: no ${missing.join(', ')})` : 'the tiny container', () => {
  const build = (cacheDir = freshFolder()) => buildTinyContainer({ cacheDir, architecture: 'x64' });

  test('is smaller than 3 MiB, and leaves nothing else in the cache', async () => {
    const cacheDir = freshFolder();
    const { path, sizeBytes } = await build(cacheDir);
    expect(statSync(path).size).toBe(sizeBytes);
    expect(sizeBytes).toBeLessThan(3 * 1024 * 1024);
    const kept = readdirSync(cacheDir).map((name) => name.replace(/-[0-9a-f.]{12}\./, '-X.'));
    expect(kept.sort()).toEqual(['tiny-container-X.json', 'tiny-container-X.tar.gz']);
  });

  test('has the same bytes when it is built again', async () => {
    const [first, second] = [await build(), await build()];
    expect(first.path).not.toBe(second.path);
    expect(readFileSync(second.path).equals(readFileSync(first.path))).toBe(true);
  });

  test('is built once, and again when its file is gone', async () => {
    const cacheDir = freshFolder();
    const { path } = await build(cacheDir);
    utimesSync(path, 1, 1);
    expect(await build(cacheDir)).toMatchObject({ path });
    expect(statSync(path).mtimeMs).toBe(1000);
    rmSync(path);
    await build(cacheDir);
    expect(statSync(path).mtimeMs).toBeGreaterThan(1000);
  });

  test('is an image of root, with a description, programs and a first process', async () => {
    const { path, version } = await build();
    const list = execFileSync('tar', ['--numeric-owner', '-tvzf', path], { encoding: 'utf8' });
    const lines = list.split('\n').filter((line) => line !== '');
    const entries = new Map(lines.map((line) => [line.split(/\s+/)[5], line]));
    expect(lines.filter((line) => !line.includes(' 0/0 '))).toEqual([]);
    expect(lines[0]).toMatch(/ metadata\.yaml$/);
    expect(entries.get('rootfs/sbin/init')).toMatch(/^-rwxr-xr-x/);
    expect(entries.get('rootfs/bin/busybox')).toMatch(/^-rwxr-xr-x/);
    expect(entries.get('rootfs/bin/sh')).toMatch(/^lrwxrwxrwx.* -> busybox$/);
    expect(entries.get('rootfs/tmp/')).toMatch(/^drwxrwxrwt/);
    expect(entries.has('rootfs/data/')).toBe(true);

    const show = (name: string) => execFileSync('tar', ['-xzOf', path, name], { encoding: 'utf8' });
    expect(show('metadata.yaml')).toMatch(/^architecture: x86_64\ncreation_date: 1\n/);
    expect(show('metadata.yaml')).toContain(`release: ${version}`);
    expect(show('rootfs/srv/www/index.html')).toContain('Headgate tiny container');
  });

  test.each(['sbin/init', 'etc/console.sh', 'etc/profile', 'etc/udhcpc.sh'])('%s is a script of busybox', (name) => {
    execFileSync('busybox', ['sh', '-n', join(import.meta.dirname, 'rootfs', name)]);
  });
});

test('is refused on a machine without an image for it', async () => {
  const build = buildTinyContainer({ cacheDir: freshFolder(), architecture: 'mips' });
  await expect(build).rejects.toThrow(
    'The tiny container is available for x86-64 and 64-bit ARM only; this machine is mips.',
  );
});

test('a tar archive refuses a name that its format cannot hold', () => {
  expect(() => packTar([{ path: 'a'.repeat(101), mode: 0o644, data: Buffer.alloc(0) }], 0)).toThrow(/100 bytes/);
});

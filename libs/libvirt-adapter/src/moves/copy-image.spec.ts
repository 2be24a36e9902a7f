import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyImage, type ImageCopy } from './copy-image.js';

const MIB = 1024 ** 2;

/** A program of the test in place of qemu-img; the programs around it are the real ones. */
describe('a copy from image to image', () => {
  const { PATH = '' } = process.env;
  let folder: string;
  let reports: number[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-copy-'));
    reports = [];
    process.env['PATH'] = `${folder}:${PATH}`;
    await writeFile(at('from'), 'content');
    await writeFile(at('to'), '');
  });
  afterEach(async () => {
    process.env['PATH'] = PATH;
    await rm(folder, { recursive: true });
  });

  const at = (name: string): string => join(folder, name);
  const qemuImg = async (...lines: string[]): Promise<void> => {
    await writeFile(at('qemu-img'), ['#!/bin/sh', ...lines, ''].join('\n'));
    await chmod(at('qemu-img'), 0o755);
  };
  const copy = (more: Partial<ImageCopy> = {}): Promise<number | undefined> =>
    copyImage({
      from: { path: at('from'), format: 'raw' },
      to: { path: at('to'), format: 'qcow2' },
      sizeBytes: 8 * MIB,
      report: (fraction) => reports.push(fraction),
      signal: new AbortController().signal,
      ...more,
    });
  const recorded = (): Promise<string> => readFile(at('record'), 'utf8');

  test('names both formats, writes into the existing file, and reports how far it is', async () => {
    await qemuImg(
      `printf '%s ' "$@" > ${at('record')}`,
      "printf '    (0.00/100%%)\\r    (25.5'",
      "printf '0/100%%)\\r'",
      `printf 12345 > ${at('to')}`,
    );
    const used = await copy();
    const args = (await recorded()).trim();
    expect(args).toMatch(/^convert .*-n .*-f raw -O qcow2 -- \S+\/from \S+\/to$/);
    expect(args).not.toMatch(/target-is-zero|(?<!\S)-U|force-share/);
    expect(reports.at(-1)).toBe(1);
    expect(reports).toContain(0.255);
    expect(used).toBe((await stat(at('to'))).blocks * 512);
  });

  test('ends with the service, and is limited in its memory, its time and its file', async () => {
    await qemuImg(
      `(ulimit -v; ulimit -t; ulimit -f; ulimit -c) > ${at('record')}`,
      `exec setpriv --dump >> ${at('record')}`,
    );
    await copy();
    const [memoryKib, seconds, , core] = (await recorded()).split('\n');
    expect([memoryKib, seconds, core]).toEqual([String(4 * MIB), '21600', '0']);
    expect(Number((await recorded()).split('\n')[2])).toBeLessThan((100 * MIB) / 512);
    expect(await recorded()).toMatch(/[Pp]arent death signal: *\S*KILL/);
  });

  test('has ended when its cancellation is reported', async () => {
    await qemuImg(`echo $$ > ${at('record')}`, "printf '(1.00/100%%)\\r'", 'exec sleep 600');
    const cancel = new AbortController();
    const report = (): void => cancel.abort(new Error('Canceled by ann.'));
    await expect(copy({ signal: cancel.signal, report })).rejects.toThrow('Canceled by ann.');
    const pid = Number(await recorded());
    expect(pid).toBeGreaterThan(0);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test.each([
    ['No space left on device', 'INSUFFICIENT_STORAGE'],
    ['Failed to get shared "write" lock', 'BUSY'],
    ["Could not open '/images/from': No such file or directory", 'VOLUME_NOT_FOUND'],
    ['something else', 'BACKEND_FAILED'],
  ])('that fails with "%s" has the code %s', async (message, code) => {
    await qemuImg(`cat >&2 <<'END'\nqemu-img: ${message}\nEND`, 'exit 1');
    await expect(copy()).rejects.toMatchObject({ code });
    expect(reports).not.toContain(1);
  });

  test('fails when the program is killed', async () => {
    await qemuImg('kill -9 $$');
    await expect(copy()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test.each([
    ['qemu-img', ['setpriv', 'prlimit']],
    ['prlimit', ['setpriv']],
    ['setpriv', []],
  ])('is not possible without %s', async (_missing, present) => {
    for (const program of present) await symlink(`/usr/bin/${program}`, at(program));
    process.env['PATH'] = folder;
    expect(await copy()).toBeUndefined();
    expect([await readFile(at('to'), 'utf8'), reports]).toEqual(['', []]);
  });

  test('is not begun with paths that QEMU could take for a protocol', async () => {
    await qemuImg(`touch ${at('record')}`);
    for (const path of ['nbd:localhost:1', 'json:{}', 'from'])
      expect(await copy({ from: { path, format: 'raw' } })).toBeUndefined();
    await expect(recorded()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

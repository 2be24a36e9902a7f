import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { SystemClock, textOfFile, type InstanceRef } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { KubeApiError } from '../api/kube-api-error.js';
import { LocalContainer } from '../testing/local-container.contract.js';
import { KubeContainerFiles } from './kube-container-files.js';

const BOX: InstanceRef = { kind: 'ct', context: 'lab', namespace: 'tailvm', name: 'box' };
const WHOLE = { skip: 0, limit: 1000 };
const MIB = 1024 ** 2;
const PROGRAMS = ['find', 'stat', 'readlink', 'cat'];
const BUSYBOX = '/bin/busybox';
const { signal } = new AbortController();

/** Names that a parser could take for something else. */
const ODD_NAMES: readonly Buffer[] = [
  '-rf',
  '--',
  ' ',
  'two\nlines',
  'E 81a4 1 1 x',
  '\n',
  '%n',
  '{}',
  'it\'s "quoted" $(id) `id` \\n',
  'gpj.\u202etxt',
  '\u001b[31mred',
  'Übung 日本 😀',
  'x'.repeat(255),
]
  .map((name) => Buffer.from(name))
  .concat([Buffer.from([0xff, 0xfe, 0x0a, 0x80]), Buffer.from([0xc3])]);

const SETS = [
  ['coreutils', (name: string) => [`/usr/bin/${name}`, `/bin/${name}`].find(existsSync) ?? ''],
  ['busybox', () => BUSYBOX],
] as const;

describe.each(SETS)('KubeContainerFiles with the programs of %s', (set, programOf) => {
  let root: string;
  let programs: string;
  let container: LocalContainer;
  let files: KubeContainerFiles;

  beforeEach(async () => {
    if (set === 'busybox' && !existsSync(BUSYBOX)) throw new Error('This test needs busybox.');
    root = mkdtempSync(join(tmpdir(), 'headgate-ct-files-'));
    programs = join(root, 'programs');
    mkdirSync(programs);
    for (const name of PROGRAMS) symlinkSync(programOf(name), join(programs, name));
    container = new LocalContainer(programs);
    await container.open();
    files = new KubeContainerFiles(container.api, new SystemClock());
  });
  afterEach(async () => {
    await container.close();
    rmSync(root, { recursive: true });
  });

  const at = (...names: string[]): string => join(root, ...names);
  const list = (path: string, range = WHOLE) => files.list(BOX, textOfFile(Buffer.from(path)), range, signal);
  const read = (path: string, until = signal) => files.read(BOX, textOfFile(Buffer.from(path)), until);
  const folderOf = (name: string, content: Readonly<Record<string, string>>): string => {
    mkdirSync(at(name));
    for (const [file, data] of Object.entries(content)) writeFileSync(at(name, file), data);
    return at(name);
  };
  const untilEnded = async (): Promise<void> => {
    while (container.running.size > 0) await new Promise(setImmediate);
  };

  test('lists any names, sorted by their bytes, and reads those in UTF-8', async () => {
    const folder = folderOf('odd', {});
    for (const [index, name] of ODD_NAMES.entries())
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), `content ${index}`);
    const page = await list(folder);
    const expected = [...ODD_NAMES].sort((one, other) => Buffer.compare(one, other)).map(textOfFile);
    expect(page).toMatchObject({ total: ODD_NAMES.length, isCut: false });
    expect(page.entries.map(({ name }) => name)).toEqual(expected);
    expect(new Set(page.entries.map(({ kind, mode }) => `${kind} ${mode.toString(8)}`))).toEqual(new Set(['file 644']));
    for (const [index, name] of ODD_NAMES.entries()) {
      const path = textOfFile(Buffer.concat([Buffer.from(`${folder}/`), name]));
      const reading = files.read(BOX, path, signal);
      if (name.includes(0xff) || name.equals(Buffer.from([0xc3])))
        await expect(reading).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      else expect(await text(await reading)).toBe(`content ${index}`);
    }
  });

  test('shows where links lead, follows them, and opens no pipe', async () => {
    folderOf('a', { file: '12345' });
    mkdirSync(at('a', 'folder'));
    writeFileSync(at('a', 'folder', 'below'), 'x');
    symlinkSync('file', at('a', 'to-file'));
    symlinkSync('folder', at('a', 'to-folder'));
    symlinkSync('odd\n//\ntarget ', at('a', 'broken'));
    symlinkSync('loop', at('a', 'loop'));
    execFileSync('mkfifo', [at('a', 'pipe')]);
    const { entries } = await list(at('a'));
    expect(
      entries.map(({ name, kind, sizeBytes, target, targetKind }) => [name, kind, sizeBytes, target, targetKind]),
    ).toEqual([
      ['broken', 'link', 0, 'odd%0A//%0Atarget ', undefined],
      ['file', 'file', 5, undefined, undefined],
      ['folder', 'folder', 0, undefined, undefined],
      ['loop', 'link', 0, 'loop', undefined],
      ['pipe', 'other', 0, undefined, undefined],
      ['to-file', 'link', 0, 'file', 'file'],
      ['to-folder', 'link', 0, 'folder', 'folder'],
    ]);
    expect((await list(at('a', 'to-folder'))).entries).toMatchObject([{ name: 'below' }]);
    expect(await text(await read(at('a', 'to-file')))).toBe('12345');
    await expect(read(at('a', 'pipe'))).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringMatching(/a pipe/),
    });
    await expect(read(at('a', 'to-folder'))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    for (const name of ['loop', 'broken', 'none'])
      await expect(read(at('a', name))).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(list(at('a', 'file'))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await expect(read('/dev/zero')).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });

  test('lists an empty folder, the top one, and a folder with one broken link', async () => {
    expect(await list(folderOf('empty', {}))).toEqual({ total: 0, isCut: false, entries: [] });
    expect((await list('/')).entries.map(({ name }) => name)).toContain('etc');
    symlinkSync('nowhere', at('empty', 'link'));
    expect((await list(at('empty'))).entries).toMatchObject([{ name: 'link', target: 'nowhere' }]);
  });

  test('cuts a folder with too many entries, and ends the program', async () => {
    const folder = folderOf('many', {});
    const all = 50_500;
    for (let index = 0; index < all; index++) writeFileSync(`${folder}/${index}`, '');
    const page = await list(folder, { skip: 10, limit: 2 });
    expect(page).toMatchObject({ isCut: true, entries: [{ kind: 'file' }, { kind: 'file' }] });
    expect(page.total).toBeGreaterThanOrEqual(50_000);
    expect(page.total).toBeLessThanOrEqual(all);
    await untilEnded();
  });

  test('reads a large file completely, and no faster than its reader', async () => {
    const content = Buffer.alloc(64 * MIB, 'a line\n');
    writeFileSync(at('large'), content);
    const slow = await read(at('large'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(slow.readableLength).toBeLessThan(MIB);
    expect(container.running.size).toBe(1);
    expect((await buffer(slow)).equals(content)).toBe(true);
    await untilEnded();
  });

  test('ends the program with a reader that leaves', async () => {
    writeFileSync(at('large'), Buffer.alloc(64 * MIB));
    const leaves = new AbortController();
    const stream = await read(at('large'), leaves.signal);
    const failed = new Promise((resolve) => stream.once('error', resolve));
    leaves.abort(new Error('The client has left.'));
    expect(await failed).toMatchObject({ message: 'The client has left.' });
    await untilEnded();
    (await read(at('large'))).destroy();
    await untilEnded();
  });

  test('breaks off with a program that is killed, and with the connection', async () => {
    writeFileSync(at('large'), Buffer.alloc(64 * MIB));
    const killed = await read(at('large'));
    for (const program of container.running) program.kill('SIGKILL');
    await expect(buffer(killed)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/exit code 137/),
    });
    const cut = await read(at('large'));
    container.cut();
    await expect(buffer(cut)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/was cut/),
    });
  });

  test('sends what cat reads of a file that grows or shrinks meanwhile', async () => {
    writeFileSync(at('log'), Buffer.alloc(32 * MIB));
    const growing = await read(at('log'));
    appendFileSync(at('log'), 'the end');
    expect((await buffer(growing)).subarray(-7).toString()).toBe('the end');
    const shrinking = await read(at('log'));
    truncateSync(at('log'), MIB);
    expect((await buffer(shrinking)).length).toBeLessThan(32 * MIB);
  });

  test('leaves a pipe that takes the place of a file after the check', async () => {
    const clock = new FixedClock(0);
    files = new KubeContainerFiles(container.api, clock);
    writeFileSync(at('file'), 'x');
    container.beforeProgram = ([name]) => {
      if (name !== 'cat') return;
      rmSync(at('file'));
      execFileSync('mkfifo', [at('file')]);
    };
    const reading = read(at('file'));
    reading.catch(() => undefined);
    const isReading = (): boolean => [...container.running].some(({ spawnfile }) => spawnfile.endsWith('cat'));
    while (!isReading() || clock.pending === 0) await new Promise(setImmediate);
    clock.advance(30_000);
    await expect(reading).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message: expect.stringContaining('It may wait in the container until that ends.'),
    });
    expect(clock.pending).toBe(0);
  });

  test.each(PROGRAMS)('refuses a container without %s, or lists it without targets', async (missing) => {
    writeFileSync(at('file'), 'x');
    symlinkSync('file', at('link'));
    rmSync(join(programs, missing));
    const refusal = { code: 'NOT_SUPPORTED', message: expect.stringContaining(`it has no program ${missing}.`) };
    const listing = list(root);
    if (missing === 'find' || missing === 'stat') await expect(listing).rejects.toMatchObject(refusal);
    else {
      const link = (await listing).entries.find(({ name }) => name === 'link');
      expect(link).toMatchObject({ targetKind: 'file' });
      // One program of busybox runs another without looking for it.
      expect(link?.target).toBe(missing === 'readlink' && set === 'coreutils' ? undefined : 'file');
    }
    const reading = read(at('file'));
    if (missing === 'cat' || missing === 'stat') await expect(reading).rejects.toMatchObject(refusal);
    else expect(await text(await reading)).toBe('x');
  });

  test.each([
    ['find', 'list', /list files in a way that is not known here/],
    ['stat', 'list', /list files in a way that is not known here/],
    ['stat', 'read', /list files in a way that is not known here/],
  ] as const)('ends a %s that prints its arguments without an end', async (name, action, message) => {
    rmSync(join(programs, name));
    writeFileSync(join(programs, name), '#!/bin/sh\nwhile :; do echo "$*"; done\n', { mode: 0o755 });
    await expect(action === 'list' ? list(root) : read(root)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(message),
    });
    await untilEnded();
  });

  test.each([
    [
      'exec failed: unable to start container process: exec: "stat": executable file not found in $PATH: unknown',
      'NOT_SUPPORTED',
    ],
    ['executable file `stat` not found in $PATH: No such file or directory: OCI runtime attempted', 'NOT_SUPPORTED'],
    ['container not running (0123)', 'BACKEND_FAILED'],
  ])('refuses a container whose runtime reports: %s', async (message, code) => {
    container.refusal = { status: 'Failure', reason: 'InternalError', message, code: 500 };
    await expect(list('/')).rejects.toMatchObject({ code });
    await expect(read('/etc/passwd')).rejects.toMatchObject({ code });
  });

  test('refuses a container of which the cluster does not report how its program ended', async () => {
    container.refusal = { status: 'Failure', reason: 'NonZeroExitCode' };
    await expect(list('/')).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/did not report/),
    });
  });

  test('refuses a container that is deleted meanwhile', async () => {
    const gone = new KubeApiError('REJECTED_BY_BACKEND', 'pods "box" not found', {
      status: 404,
      reason: 'NotFound',
      text: 'pods "box" not found',
    });
    const api = { list: container.api.list, socket: async () => Promise.reject(gone) };
    const reading = new KubeContainerFiles(api, new SystemClock()).list(BOX, '/', WHOLE, signal);
    await expect(reading).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });
});

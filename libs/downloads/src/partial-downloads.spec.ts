import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FixedClock } from '@headgate/testing';
import { KEEP_PARTIAL_MS, PartialDownloads, type PartialFile } from './partial-downloads.js';

const KEY = 'https://images.example/a.qcow2';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('PartialDownloads', () => {
  let folder: string;
  let clock: FixedClock;
  let partials: PartialDownloads;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-partial-'));
    clock = new FixedClock();
    partials = new PartialDownloads(join(folder, 'partial'), clock);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const kept = (): Promise<string[]> => readdir(join(folder, 'partial')).catch(() => []);
  const store = async (text: string, key = KEY, validator = '"v1"'): Promise<PartialFile> => {
    const partial = await partials.open(key);
    await partial.restart(validator, 100);
    await partial.append(Buffer.from(text));
    return partial;
  };
  /** The store of a service that was started again. */
  const restarted = (): PartialDownloads => new PartialDownloads(join(folder, 'partial'), clock);

  test('continue with the bytes and the version of an interrupted download, also after a restart', async () => {
    await (await store('first ')).keep();
    const again = await restarted().open(KEY);
    expect([again.bytes, again.validator, again.totalBytes]).toEqual([6, '"v1"', 100]);
    await again.readStored();
    await again.append(Buffer.from('second'));
    expect(await readFile(again.path, 'utf8')).toBe('first second');
    expect(again.digest('sha256')).toBe(sha256('first second'));
    await again.discard();
    expect(await kept()).toEqual([]);
  });

  test('continue where the journal ends when the service was killed', async () => {
    const partial = await store('durable');
    await partial.keep();
    await writeFile(partial.path, 'durable and lost in the cache');
    const again = await restarted().open(KEY);
    expect([again.bytes, (await stat(again.path)).size]).toEqual([7, 7]);
    await again.discard();
  });

  test.each<[string, (file: PartialFile) => Promise<void>]>([
    ['its journal is damaged', ({ folder: own }) => writeFile(join(own, 'journal.json'), '{"validator":"')],
    ['its journal is another value', ({ folder: own }) => writeFile(join(own, 'journal.json'), 'null')],
    [
      'its journal has a negative length',
      ({ folder: own }) => writeFile(join(own, 'journal.json'), '{"validator":"a","bytes":-1,"updatedAt":0}'),
    ],
    ['its file is shorter than its journal says', ({ path }) => writeFile(path, 'sh')],
    ['its file is gone', ({ path }) => rm(path)],
  ])('begin from zero when %s', async (_title, damage) => {
    const partial = await store('first');
    await partial.keep();
    await damage(partial);
    const again = await restarted().open(KEY, ['sha256', 'sha512']);
    expect([again.bytes, again.validator, (await stat(again.path)).size]).toEqual([0, undefined, 0]);
    await again.append(Buffer.from('new'));
    expect(again.digest('sha512')).toBe(createHash('sha512').update('new').digest('hex'));
    await again.discard();
  });

  test('keep no download whose file has no version', async () => {
    const partial = await partials.open(KEY);
    await partial.restart();
    await partial.append(Buffer.from('x'));
    await partial.keep();
    expect(await kept()).toEqual([]);
  });

  test('give the same file to one download at a time', async () => {
    const [first, second] = [await store('first'), await partials.open(KEY)];
    expect(second.bytes).toBe(0);
    await second.append(Buffer.from('other'));
    expect(await readFile(first.path, 'utf8')).toBe('first');
    await Promise.all([first.keep(), second.discard()]);
    const third = await partials.open(KEY);
    expect(third.bytes).toBe(5);
    await third.discard();
  });

  test('of different URLs have nothing to do with each other, and do not store the URL', async () => {
    await (await store('first', `${KEY}?token=hidden`)).keep();
    const other = await partials.open(KEY);
    expect(other.bytes).toBe(0);
    await other.discard();
    const [name = ''] = await kept();
    expect(name + (await readFile(join(folder, 'partial', name, 'journal.json'), 'utf8'))).not.toContain('hidden');
  });

  test('are removed when they are too old, too many or without a journal, but never while they are in use', async () => {
    const running = await store('running', 'running');
    await (await store('old', 'old')).keep();
    clock.advance(KEEP_PARTIAL_MS);
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await (await store(key, key)).keep();
      clock.advance(1000);
    }
    await mkdir(join(folder, 'partial', 'killed-at-its-beginning'));
    await writeFile(join(folder, 'mine'), 'kept');
    await partials.sweep();
    expect(await kept()).toHaveLength(5);
    for (const [key, bytes] of [
      ['a', 0],
      ['b', 1],
      ['e', 1],
    ] as const) {
      const partial = await partials.open(key);
      expect([key, partial.bytes]).toEqual([key, bytes]);
      await partial.discard();
    }
    await running.append(Buffer.from('!'));
    expect(await readFile(running.path, 'utf8')).toBe('running!');
    await running.discard();
    await partials.sweep(0);
    expect([await kept(), await readdir(folder)]).toEqual([[], ['mine', 'partial']]);
  });

  test('are swept without a folder', async () => {
    await expect(partials.sweep()).resolves.toBeUndefined();
  });
});

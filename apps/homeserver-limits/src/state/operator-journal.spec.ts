import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournaledAction } from './operator-entry.js';
import { OperatorJournal } from './operator-journal.js';

const lift = (key: string): JournaledAction => ({
  operator: 'alice',
  address: '192.0.2.1',
  action: 'lift',
  rule: 'ring',
  key,
  reason: 'a call',
});

describe('OperatorJournal', () => {
  let folder: string;
  let file: string;
  const journals: OperatorJournal[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'limits-journal-'));
    file = join(folder, 'operators.jsonl');
  });
  afterEach(async () => {
    for (const journal of journals.splice(0)) await journal.onApplicationShutdown();
    await rm(folder, { recursive: true, force: true });
  });
  const open = (maxBytes?: number): OperatorJournal => {
    const journal = new OperatorJournal(folder, { now: () => 0, ...(maxBytes !== undefined && { maxBytes }) });
    journals.push(journal);
    return journal;
  };
  const keys = async (journal: OperatorJournal) =>
    (await journal.latest(1_000)).map(({ key, result }) => `${key} ${result}`);

  test('has an action on disk before it is carried out, and its result after it', async () => {
    const journal = open();
    await journal.perform(lift('@a:b'), async () => {
      expect(await readFile(file, 'utf8')).toMatch(/^\{[^\n]*"key":"@a:b"[^\n]*\}\n$/);
    });
    await journal.perform(
      lift('@c:b'),
      () => false,
      (hasChanged) => hasChanged,
    );
    expect(await keys(journal)).toEqual(['@c:b nothing', '@a:b done']);
    expect(await keys(open())).toEqual(['@c:b nothing', '@a:b done']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('records an action that fails, and passes its error on', async () => {
    const journal = open();
    const failing = journal.perform(lift('@a:b'), () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await keys(journal)).toEqual(['@a:b failed']);
  });

  test('carries nothing out that it cannot record', async () => {
    await mkdir(file);
    let ran = false;
    const journal = open();
    await expect(journal.perform(lift('@a:b'), () => void (ran = true))).rejects.toMatchObject({ status: 503 });
    expect(ran).toBe(false);
    await rm(file, { recursive: true });
    await journal.perform(lift('@c:b'), () => undefined);
    expect(await keys(journal)).toEqual(['@c:b done']);
  });

  test('runs actions one at a time, and shows each the previous ones', async () => {
    const journal = open();
    const order: string[] = [];
    const one = (name: string) =>
      journal.perform(lift(name), async (previous) => {
        order.push(`${name} after ${previous.map(({ key }) => key).join()}`);
        await Promise.resolve();
        order.push(`${name} ends`);
      });
    await Promise.all([one('1'), one('2')]);
    expect(order).toEqual(['1 after ', '1 ends', '2 after 1', '2 ends']);
  });

  test.each([
    ['a cut line', '{"id":"x","time":"1970-01-01T00:00:00.000Z","operator":"ali'],
    ['zeros of a crashed file system', '\0'.repeat(40)],
    ['lines of something else', '[1]\nnull\n{"id":1}\n{"id":"y","action":"fly"}\n'],
  ])('survives %s at its end', async (_, rest) => {
    await open().perform(lift('@a:b'), () => undefined);
    await appendFile(file, rest);
    const journal = open();
    await journal.perform(lift('@c:b'), () => undefined);
    expect(await keys(journal)).toEqual(['@c:b done', '@a:b done']);
    expect(await keys(open())).toEqual(['@c:b done', '@a:b done']);
  });

  test('an action without a result is unknown after a crash', async () => {
    await open().perform(lift('@a:b'), () => undefined);
    const [begun = ''] = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, `${begun}\n`);
    expect(await keys(open())).toEqual(['@a:b undefined']);
  });

  test('is bounded on disk, by the file and the previous one', async () => {
    const journal = open(2_000);
    for (let i = 0; i < 60; i++) await journal.perform(lift(`@user${i}:b`), () => undefined);
    const previous = join(folder, 'operators.1.jsonl');
    for (const path of [file, previous]) expect((await stat(path)).size).toBeLessThanOrEqual(2_000);
    const shown = await keys(open(2_000));
    expect(shown[0]).toBe('@user59:b done');
    expect(shown.length).toBeGreaterThan(8);
    expect(shown.length).toBeLessThan(30);
  });
});

import type { BackupPoint } from './backup-point.js';
import { tagsOf, pointOf } from './backup-point.js';
import { pointsToDelete, CleanTask, type CleanInput } from './target-care.js';
import { BackingUp } from './testing/backing-up.js';
import { MemoryProofs } from './testing/memory-proofs.js';
import { LastRetention } from './testing/memory-stores.js';

const TARGET = 'feed000000000001';
const retention = new LastRetention();
const rules: CleanInput = { target: TARGET, rules: { last: 1 }, timeZone: 'UTC' };

const point = (id: string, day: number, more: Partial<BackupPoint> = {}): BackupPoint => ({
  id,
  time: `2026-01-0${day}T00:00:00.000Z`,
  uid: 'uid-web',
  ref: 'vm/lab/default/web',
  consistency: 'stopped',
  task: `task-${id}`,
  series: TARGET,
  sizeBytes: 1,
  ...more,
});
/** As in a target: the newest first. */
const idsOf = (points: readonly BackupPoint[], request = rules, booted: readonly string[] = []): string[] =>
  pointsToDelete(
    [...points].sort((a, b) => (a.time < b.time ? 1 : -1)),
    request,
    retention,
    (one) => booted.includes(one.id),
  ).map(({ id }) => id);

describe('the clean-up of a target', () => {
  test('deletes what the rules do not keep, for each VM', () => {
    const others = [point('d', 1, { uid: 'uid-db' }), point('e', 2, { uid: 'uid-db' })];
    expect(idsOf([point('a', 1), point('b', 2), point('c', 3), ...others]).sort()).toEqual(['a', 'b', 'd']);
  });

  test('never deletes the newest point of a VM, and nothing without rules', () => {
    expect(idsOf([point('a', 1), point('b', 2)], { ...rules, rules: { last: 0, daily: 0 } })).toEqual([]);
    const keepsNothing = { kept: () => new Set<string>() };
    const points = [point('b', 2), point('a', 1)];
    expect(pointsToDelete(points, rules, keepsNothing, () => false).map(({ id }) => id)).toEqual(['a']);
  });

  test('deletes only points older than the newest one that has booted, if the rules say so', () => {
    const points = [point('a', 1), point('b', 2), point('c', 3), point('d', 4)];
    const request = { ...rules, onlyIfProved: true };
    expect(idsOf(points, request)).toEqual([]);
    expect(idsOf(points, request, ['b'])).toEqual(['a']);
    expect(idsOf(points, request, ['a', 'c']).sort()).toEqual(['a', 'b']);
    expect(idsOf(points, rules, ['b']).sort()).toEqual(['a', 'b', 'c']);
    const other = point('x', 1, { uid: 'uid-db' });
    expect(idsOf([...points, other], request, ['d']).sort()).toEqual(['a', 'b', 'c']);
  });

  describe('after a run of a schedule', () => {
    const only = { ...rules, only: { schedule: 'night', tasks: ['task-c', 'task-y'] } };
    const night = (id: string, day: number, more: Partial<BackupPoint> = {}): BackupPoint =>
      point(id, day, { schedule: 'night', ...more });

    test('deletes only points that the schedule has created', () => {
      const others = [point('hand', 1), point('noon', 2, { schedule: 'noon' })];
      expect(idsOf([...others, night('a', 1), night('b', 2), night('c', 3)], only).sort()).toEqual(['a', 'b']);
    });

    test('deletes nothing of a VM whose backup failed or was skipped, and nothing of another target', () => {
      const db = [night('d', 1, { uid: 'uid-db' }), night('e', 2, { uid: 'uid-db' })];
      const elsewhere = [1, 2].map((day) => night(`f${day}`, day, { series: 'feed000000000009', task: 'task-c' }));
      expect(idsOf([night('b', 2), night('c', 3), ...db, ...elsewhere], only)).toEqual(['b']);
      expect(idsOf([night('a', 1), night('b', 2)], only)).toEqual([]);
    });

    test('keeps the new point, also when a clock that was set back has given it an earlier time', () => {
      // `x` was created while the clock was ahead.
      expect(idsOf([night('a', 1), night('c', 2), night('x', 9)], only)).toEqual(['a']);
      expect(idsOf([night('x', 9), night('c', 2), night('y', 3)], only)).toEqual([]);
    });
  });

  test('waits while another process uses the target, and gives up after 8 hours', async () => {
    const backing = await BackingUp.open();
    const { store } = backing.stores;
    const task = new CleanTask({ ...backing, retention, proofs: new MemoryProofs() });
    const passing = async (work: Promise<unknown>): Promise<unknown> => {
      let result: unknown;
      const ended = work.then(
        (value) => void (result = value),
        (error: unknown) => void (result = error),
      );
      for (let turn = 0; turn < 2000 && result === undefined; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        await backing.clock.advance(15_000);
      }
      await ended;
      return result;
    };
    store.busyTimes = 3;
    expect(await passing(backing.run(task, rules))).toEqual({ deleted: 0, freedBytes: 0 });
    store.busyTimes = 3000;
    expect(await passing(backing.run(task, rules))).toMatchObject({
      code: 'BUSY',
      message: expect.stringMatching(/node-b/),
    });
    expect(store.pruned).toBe(1);
  });

  test('deletes no point of another service, and no snapshot of another program', async () => {
    const backing = await BackingUp.open();
    const { store } = backing.stores;
    const add = (id: string, day: number, tags: readonly string[]): void =>
      void store.stored.push({ id, time: `2026-01-0${day}T00:00:00.000Z`, tags, files: new Map() });
    add('own-old', 1, tagsOf(point('', 1)));
    add('foreign-service', 2, tagsOf(point('', 2, { series: 'feed000000000009' })));
    add('foreign-program', 3, ['headgate', 'uid=uid-web']);
    add('untagged', 4, []);
    add('own-new', 5, tagsOf(point('', 5)));
    const task = new CleanTask({ ...backing, retention, proofs: new MemoryProofs() });
    expect(await backing.run(task, rules)).toEqual({ deleted: 1, freedBytes: 0 });
    expect(store.stored.map(({ id }) => id)).toEqual(['foreign-service', 'foreign-program', 'untagged', 'own-new']);
    expect(store.pruned).toBe(1);
  });
});

describe('a point', () => {
  test('is read from its tags as it was written', () => {
    const written = point('a', 1, { checkpoint: 'headgate-backup-feed-1', ref: 'vm/lab/a=b/web', schedule: 'night' });
    const { id, time, ...rest } = written;
    expect(pointOf({ id, time, tags: tagsOf(rest) })).toEqual(written);
  });

  test.each([
    [['headgate']],
    [tagsOf(point('a', 1)).filter((tag) => !tag.startsWith('bytes='))],
    [[...tagsOf(point('a', 1)).filter((tag) => !tag.startsWith('consistency=')), 'consistency=good']],
  ])('is no point with the tags %j', (tags) => {
    expect(pointOf({ id: 'a', time: '2026-01-01T00:00:00Z', tags })).toBeUndefined();
  });
});

import type { BackupPoint } from './backup-point.js';
import { tagsOf, pointOf } from './backup-point.js';
import { pointsToDelete, CleanTask, type CleanInput } from './target-care.js';
import { BackingUp } from './testing/backing-up.js';
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
const idsOf = (points: readonly BackupPoint[], request = rules): string[] =>
  pointsToDelete(
    [...points].sort((a, b) => (a.time < b.time ? 1 : -1)),
    request,
    retention,
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
    expect(pointsToDelete(points, rules, keepsNothing).map(({ id }) => id)).toEqual(['a']);
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
    const task = new CleanTask({ ...backing, retention });
    expect(await backing.run(task, rules)).toEqual({ deleted: 1, freedBytes: 0 });
    expect(store.stored.map(({ id }) => id)).toEqual(['foreign-service', 'foreign-program', 'untagged', 'own-new']);
    expect(store.pruned).toBe(1);
  });
});

describe('a point', () => {
  test('is read from its tags as it was written', () => {
    const written = point('a', 1, { checkpoint: 'headgate-backup-feed-1', ref: 'vm/lab/a=b/web' });
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

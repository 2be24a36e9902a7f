import { ResticRepository } from './repository.js';
import { ManualClock } from './testing/manual-clock.js';
import { MemoryTarget } from './testing/memory-target.js';
import { backUp, CHEAP, createSample, MIB, noise, PASSWORD, readFile, reopen } from './testing/sample-repository.js';

const HALF_HOUR_MS = 30 * 60_000;

/** Lets the Nth change of a target and all later ones fail, as if the process had been killed before it. */
function killAt(target: MemoryTarget, at: number): { readonly wasKilled: () => boolean } {
  let changes = 0;
  target.intercept = (operation) => {
    if (operation !== 'write' && operation !== 'remove') return;
    changes++;
    if (changes >= at) throw new Error('killed');
  };
  return { wasKilled: () => changes >= at };
}

/** Runs an operation on copies of a target, killed at its first, second, … change, until it is not killed any more. */
async function atEveryChange(
  target: MemoryTarget,
  operation: (repository: ResticRepository) => Promise<unknown>,
  verify: (repository: ResticRepository, after: MemoryTarget) => Promise<void>,
): Promise<number> {
  for (let at = 1; ; at++) {
    const copy = target.copy();
    const repository = await reopen(copy);
    const kill = killAt(copy, at);
    await operation(repository).catch((error: Error) => expect(error.message).toBe('killed'));
    copy.intercept = () => undefined;
    // The lock of the killed process is stale later.
    const clock = new ManualClock();
    clock.advance(HALF_HOUR_MS + 1);
    await verify(await reopen(copy, clock), copy);
    if (!kill.wasKilled()) return at - 1;
  }
}

async function expectIntact(repository: ResticRepository): Promise<void> {
  expect((await repository.check({ readData: true })).problems).toEqual([]);
}

describe('a process that is killed before any change of the target', () => {
  const disk = noise('disk', 2 * MIB + 100);
  const other = Buffer.concat([disk.subarray(0, MIB), noise('other', MIB)]);

  test('leaves earlier snapshots complete during a backup, and the next backup works', async () => {
    const { target, repository } = await createSample();
    const first = await backUp(repository, { 'a/disk': disk });
    const points = await atEveryChange(
      target as MemoryTarget,
      (again) => backUp(again, { 'a/disk': other, 'b/manifest': noise('m', 10) }),
      async (after) => {
        await expectIntact(after);
        expect((await readFile(after, first, 'a/disk')).equals(disk)).toBe(true);
        for (const { id } of await after.snapshots()) expect(await after.files(id)).not.toEqual([]);
        const next = await backUp(after, { 'a/disk': other });
        expect((await readFile(after, next, 'a/disk')).equals(other)).toBe(true);
        await after.prune({ repackAbove: 0 });
        await expectIntact(after);
        expect((await after.check({ readData: false })).garbage).toEqual({ packs: 0, blobs: 0, bytes: 0 });
      },
    );
    // The lock, a pack of data, one of trees, the index, the snapshot, and the removal of the lock.
    expect(points).toBe(6);
  });

  test('leaves the remaining snapshots complete while others are forgotten', async () => {
    const { target, repository } = await createSample();
    const gone = [await backUp(repository, { disk }), await backUp(repository, { disk: other })];
    const kept = await backUp(repository, { disk, other });
    const points = await atEveryChange(
      target as MemoryTarget,
      (again) => again.forget(gone),
      async (after) => {
        await expectIntact(after);
        expect((await readFile(after, kept, 'other')).equals(other)).toBe(true);
        await after.forget(gone);
        expect((await after.snapshots()).map(({ id }) => id)).toEqual([kept]);
      },
    );
    expect(points).toBe(4);
  });

  test('leaves every snapshot complete during a prune, and the next prune goes on', async () => {
    const { target, repository } = await createSample();
    const gone = await backUp(repository, { disk, gone: noise('gone', 3 * MIB) });
    const kept = await backUp(repository, { disk: other });
    const alone = await backUp(repository, { alone: noise('alone', MIB) });
    await repository.forget([gone, alone]);
    const points = await atEveryChange(
      target as MemoryTarget,
      (again) => again.prune({ repackAbove: 0 }),
      async (after, { contents }) => {
        await expectIntact(after);
        expect((await readFile(after, kept, 'disk')).equals(other)).toBe(true);
        await after.prune({ repackAbove: 0 });
        expect((await after.check({ readData: true })).garbage).toEqual({ packs: 0, blobs: 0, bytes: 0 });
        expect((await readFile(after, kept, 'disk')).equals(other)).toBe(true);
        const bytes = [...contents.values()].reduce((sum, { length }) => sum + length, 0);
        expect(bytes).toBeLessThan(2 * MIB + 20_000);
      },
    );
    expect(points).toBeGreaterThan(8);
  });

  test('leaves no repository or a complete one while it is created', async () => {
    for (let at = 1; ; at++) {
      const target = new MemoryTarget();
      const kill = killAt(target, at);
      await ResticRepository.create(target, PASSWORD, { scrypt: CHEAP }).catch(() => undefined);
      target.intercept = () => undefined;
      if (!kill.wasKilled()) break;
      await createSample(target);
      const id = await backUp(await reopen(target), { disk });
      expect((await readFile(await reopen(target), id, 'disk')).equals(disk)).toBe(true);
      expect(target.names('keys')).toHaveLength(1);
    }
  });
});

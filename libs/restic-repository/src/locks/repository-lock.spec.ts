import { DamagedError, LockedError, LostLockError } from '../model/errors.js';
import { HostileRepository } from '../testing/hostile-repository.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MemoryTarget } from '../testing/memory-target.js';
import { backUp, backupInput, createSample, MIB, noise, readFile, reopen } from '../testing/sample-repository.js';
import type { ResticRepository } from '../repository.js';

const MINUTE_MS = 60_000;
/** No process has it: the largest ID that Linux gives is 2^22. */
const DEAD_PID = 2 ** 22 + 1;

describe('locks', () => {
  let target: MemoryTarget;
  let clock: ManualClock;
  let repository: ResticRepository;

  beforeEach(async () => {
    const sample = await createSample();
    target = sample.target as MemoryTarget;
    ({ clock, repository } = sample);
  });

  async function writeLock(fields: Record<string, unknown>): Promise<string> {
    const lock = { time: new Date(clock.now()).toISOString(), exclusive: true, hostname: 'node-b', pid: 1, ...fields };
    return (await HostileRepository.of(target)).files.save('locks', lock);
  }

  test('keep a prune away while a backup runs, and a backup while a prune runs', async () => {
    const other = await reopen(target, clock);
    await repository.backup(backupInput(), async (writer) => {
      await writer.data('a', Buffer.from('a'));
      await expect(other.prune()).rejects.toThrow(LockedError);
      // Other backups, forgetting and checks may run.
      await backUp(other, { b: Buffer.from('b') });
      await other.forget([]);
      expect((await other.check({ readData: true })).isIntact).toBe(true);
    });
    const [snapshot] = await repository.snapshots();
    await repository.forget([snapshot?.id ?? '']);
    const met: unknown[] = [];
    target.intercept = async (operation, type) => {
      if (operation !== 'remove' || type !== 'data' || met.length > 0) return;
      met.push('data');
      met.push(await backUp(other, { c: Buffer.from('c') }).catch((error: unknown) => error));
    };
    await repository.prune();
    expect(met).toEqual(['data', expect.any(LockedError)]);
    expect(target.names('locks')).toEqual([]);
  });

  test('keep SIGHUP from ending the process, which restic sends to the process of a lock', async () => {
    const before = process.listenerCount('SIGHUP');
    const [first, second] = [await repository.lockForReading(), await repository.lockForReading()];
    await second.release();
    expect(process.listenerCount('SIGHUP')).toBe(before + 1);
    await first.release();
    await first.release();
    target.intercept = (operation) => {
      if (operation === 'write') throw new Error('full');
    };
    await expect(repository.lockForReading()).rejects.toThrow('full');
    expect(process.listenerCount('SIGHUP')).toBe(before);
  });

  test('are removed after failures', async () => {
    await expect(repository.backup(backupInput(), () => Promise.reject(new Error('source')))).rejects.toThrow('source');
    await expect(repository.prune({ repackAbove: 7 })).rejects.toThrow(/^repackAbove/);
    expect(target.names('locks')).toEqual([]);
  });

  test('let exactly one of two prunes run that begin at the same time, or none', async () => {
    await backUp(repository, { a: Buffer.from('a') });
    const other = await reopen(target, clock);
    const results = await Promise.allSettled([repository.prune(), other.prune()]);
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
    expect(target.names('locks')).toEqual([]);
    await other.prune();
  });

  test.each([
    ['of a dead process on this machine', { hostname: 'node-a', pid: DEAD_PID }],
    ['that is older than 30 minutes', { time: '2026-03-01T11:29:59Z' }],
    ['of no process at all', { hostname: 'node-a', pid: 0 }],
  ])('are stale and removed: a lock %s', async (_what, fields) => {
    await writeLock(fields);
    await repository.prune();
    expect(target.names('locks')).toEqual([]);
  });

  test.each([
    ['of a process on another machine', { pid: DEAD_PID }],
    ['of a living process on this machine', { hostname: 'node-a', pid: process.pid }],
    ['from a clock that is ahead', { time: '2026-03-01T19:00:00Z' }],
    ['that is just 30 minutes old', { time: '2026-03-01T11:30:00Z' }],
  ])('count: a lock %s', async (_what, fields) => {
    const name = await writeLock(fields);
    await expect(backUp(repository, {})).rejects.toThrow(LockedError);
    expect(target.names('locks')).toEqual([`locks/${name}`]);
  });

  test('name their holder', async () => {
    await writeLock({ pid: 4711 });
    await expect(repository.check({ readData: false })).rejects.toMatchObject({
      message: 'The repository is exclusively locked by process 4711 on node-b since 2026-03-01T12:00:00.000Z.',
      holder: { hostname: 'node-b', pid: 4711, exclusive: true },
    });
  });

  test('that are damaged count, with advice; empty ones do not', async () => {
    const name = `locks/${'ab'.repeat(32)}`;
    target.contents.set(name, Buffer.alloc(0));
    await repository.prune();
    target.contents.set(name, Buffer.from('noise'));
    await expect(repository.prune()).rejects.toThrow(DamagedError);
    await expect(repository.prune()).rejects.toThrow(/delete this file/);
  });

  test('are renewed every 5 minutes, the new one before the old one goes', async () => {
    let fewest = Infinity;
    target.intercept = (operation, type) => {
      if (operation === 'remove' && type === 'locks') fewest = Math.min(fewest, target.names('locks').length);
    };
    await repository.backup(backupInput(), async (writer) => {
      const seen = new Set(target.names('locks'));
      for (let round = 0; round < 10; round++) {
        clock.advance(5 * MINUTE_MS);
        await writer.data(`${round}`, noise(`${round}`, 10));
        while (target.names('locks').length !== 1 || seen.has(target.names('locks')[0] ?? '')) {
          await new Promise(setImmediate);
        }
        for (const name of target.names('locks')) seen.add(name);
        await expect((await reopen(target, clock)).prune()).rejects.toThrow(LockedError);
      }
      expect(seen.size).toBe(11);
      fewest = Infinity;
    });
    expect(fewest).toBe(1);
  });

  test('that others have removed end the operation without a snapshot', async () => {
    const backup = repository.backup(backupInput(), async (writer) => {
      await writer.data('a', Buffer.from('a'));
      for (const name of target.names('locks')) target.contents.delete(name);
    });
    await expect(backup).rejects.toThrow(LostLockError);
    expect(await repository.snapshots()).toEqual([]);
  });

  test('that can not be renewed for too long end the operation, a short failure does not', async () => {
    const begin = async (attempts: number) => {
      let failed = 0;
      return repository.backup(backupInput(), async () => {
        target.intercept = (operation, type) => {
          if (operation !== 'write' || type !== 'locks') return;
          failed++;
          throw new Error('unreachable');
        };
        for (let attempt = 1; attempt <= attempts; attempt++) {
          clock.advance(5 * MINUTE_MS);
          while (failed < attempt) await new Promise(setImmediate);
          // The failure is handled, and the next attempt is planned.
          for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
        }
        target.intercept = () => undefined;
      });
    };
    await begin(4);
    await expect(begin(5)).rejects.toThrow(LostLockError);
    expect(await repository.snapshots()).toHaveLength(1);
  });

  test('survive a clock that is set back', async () => {
    await repository.backup(backupInput(), async (writer) => {
      clock.advance(-60 * MINUTE_MS);
      await writer.data('a', Buffer.from('a'));
      await expect((await reopen(target, clock)).prune()).rejects.toThrow(LockedError);
    });
    expect((await repository.check({ readData: true })).isIntact).toBe(true);
  });

  test('for reading keep a prune away until they are released', async () => {
    const id = await backUp(repository, { a: noise('a', MIB) });
    const lock = await repository.lockForReading();
    await repository.forget([id]);
    await expect(repository.prune()).rejects.toThrow(LockedError);
    await lock.release();
    await lock.release();
    await repository.prune();
    expect(target.names('data')).toEqual([]);
  });

  test('are not needed to read what another process repacks meanwhile', async () => {
    const disk = noise('kept', 2 * MIB);
    const gone = await backUp(repository, { disk, gone: noise('gone', 2 * MIB) });
    const kept = await backUp(repository, { disk });
    const file = await repository.openFile(kept, 'disk');
    const other = await reopen(target, clock);
    await other.forget([gone]);
    expect(await other.prune({ repackAbove: 0 })).toMatchObject({ repackedPacks: 1 });
    expect(Buffer.from(await file.read(0, 2 * MIB)).equals(disk)).toBe(true);
    expect((await readFile(repository, kept, 'disk')).equals(disk)).toBe(true);
  });
});

import { DomainError, workOn, type Operation } from '@headgate/domain-contracts';
import { FixedClock, ManualReplica } from '@headgate/testing';
import { Ledger } from './ledger.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const COPY = { kind: 'vm', context: 'lab', namespace: 'default', name: 'copy' } as const;
const BUSY = expect.objectContaining({ code: 'BUSY' });

/** Whether a promise is still pending after all work that needs no timer. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  const settle = (): void => void (isOpen = false);
  promise.then(settle, settle);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  return isOpen;
}

describe('Ledger', () => {
  let clock: FixedClock;
  let ledger: Ledger;

  beforeEach(() => {
    clock = new FixedClock();
    ledger = new Ledger({ clock });
  });

  test('knows every operation that uses anything of a context, also as its destination', async () => {
    const to = { kind: 'vm', context: 'far@site', namespace: 'default', name: 'web' } as const;
    const move = await ledger.acquire(workOn('move', WEB, to));
    move.giveTo('move-1');
    const tag = await ledger.acquire(workOn('tag', DB));
    expect(ledger.inContext('far@site')).toEqual([
      { subject: 'vm/far%40site/default/web', operation: 'move', isBrief: false, task: 'move-1' },
    ]);
    expect(ledger.inContext('lab').map(({ operation, isBrief }) => [operation, isBrief])).toEqual([
      ['move', false],
      ['tag', true],
    ]);
    expect([ledger.inContext('la'), ledger.inContext('default')]).toEqual([[], []]);
    tag.release();
    ledger.endTask('move-1');
    expect([ledger.inContext('lab'), ledger.inContext('far@site')]).toEqual([[], []]);
  });

  const acquire = (operation: Operation, subject = WEB) => ledger.acquire(workOn(operation, subject));

  test('lets requests that change the same wait for each other, in their order', async () => {
    const first = await acquire('tag');
    const second = acquire('start');
    const third = acquire('template');
    expect(await isPending(second)).toBe(true);
    first.release();
    const started = await second;
    expect(await isPending(third)).toBe(true);
    started.release();
    (await third).release();
  });

  test('lets requests for other instances go on', async () => {
    await acquire('tag');
    (await acquire('tag', DB)).release();
  });

  test('lets no later request overtake one that waits for more', async () => {
    const tag = await acquire('tag');
    const clone = ledger.acquire(workOn('clone', WEB, COPY));
    const create = ledger.acquire(workOn('create', COPY));
    expect([await isPending(clone), await isPending(create)]).toEqual([true, true]);
    tag.release();
    await clone;
    await expect(create).rejects.toEqual(BUSY);
  });

  test('refuses a request immediately while a long operation goes on, and names its task', async () => {
    const snapshot = await acquire('snapshot');
    await expect(acquire('tag')).rejects.toThrow('web is busy with a snapshot. Try again in a moment.');
    snapshot.giveTo('snapshot-web-1');
    snapshot.release();
    await expect(acquire('tag')).rejects.toMatchObject({
      code: 'BUSY',
      message: 'web is busy with a snapshot (task snapshot-web-1). Wait until that task has ended, or cancel it.',
      details: { ref: WEB, action: 'snapshot', task: 'snapshot-web-1' },
    });
    ledger.endTask('snapshot-web-1');
    (await acquire('tag')).release();
  });

  test('refuses a request that waits when the operation before it becomes a task', async () => {
    const create = await acquire('create');
    const start = acquire('start');
    expect(await isPending(start)).toBe(true);
    create.giveTo('create-web-1');
    await expect(start).rejects.toMatchObject({ details: { task: 'create-web-1' } });
  });

  test('refuses a request that has waited for ten seconds, and lets the next one in', async () => {
    const first = await acquire('scale');
    const second = acquire('clone');
    const third = acquire('export-running');
    expect([await isPending(second), await isPending(third)]).toEqual([true, false]);
    await Promise.all([
      expect(second).rejects.toThrow('web is busy with a change of its size.'),
      clock.advance(10_000),
    ]);
    first.release();
    (await acquire('delete-checkpoint')).release();
  });

  test('allows several operations that need a VM unchanged, and no change meanwhile', async () => {
    const [a, b] = [await acquire('clone'), await acquire('export')];
    await expect(acquire('start')).rejects.toEqual(BUSY);
    a.release();
    await expect(acquire('start')).rejects.toEqual(BUSY);
    b.release();
    (await acquire('start')).release();
  });

  test('reserves the name of a VM that does not exist yet', async () => {
    const clone = await ledger.acquire(workOn('clone', WEB, COPY));
    clone.giveTo('clone-copy-1');
    await expect(ledger.acquire(workOn('create', COPY))).rejects.toThrow('copy is busy with a clone');
    await expect(ledger.acquire(workOn('clone', DB, COPY))).rejects.toEqual(BUSY);
    await expect(acquire('delete')).rejects.toEqual(BUSY);
    (await acquire('delete', DB)).release();
  });

  test('reserves nothing for a request that is refused', async () => {
    await ledger.acquire(workOn('snapshot', COPY));
    await expect(ledger.acquire(workOn('clone', WEB, COPY))).rejects.toEqual(BUSY);
    (await acquire('delete')).release();
  });

  test('ends the reservation of a request that fails', async () => {
    const failed = ledger.during(workOn('restore', WEB), async () => {
      throw new DomainError('SNAPSHOT_NOT_FOUND', 'web has no snapshot one.');
    });
    await expect(failed).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    (await acquire('delete')).release();
  });

  test('keeps the reservations of a task that an earlier process began', async () => {
    ledger.adopt('move-web-1', workOn('move', WEB, COPY), true);
    await expect(acquire('tag')).rejects.toMatchObject({ details: { task: 'move-web-1' } });
    await expect(ledger.acquire(workOn('create', COPY))).rejects.toEqual(BUSY);
    ledger.endTask('move-web-1');
    (await acquire('tag')).release();
  });

  test('shows in plans what they wait for, and what refuses them', async () => {
    const empty = { steps: [], warnings: [], refusals: [] };
    expect(ledger.inPlan(workOn('start', WEB), empty)).toBe(empty);
    const tag = await acquire('tag');
    expect(ledger.inPlan(workOn('start', WEB), empty).warnings).toEqual([
      'web is busy with a change of its tags. This waits until that has ended.',
    ]);
    tag.release();
    (await acquire('restore')).giveTo('restore-web-1');
    const refused = {
      ...empty,
      refusals: [{ code: 'WRONG_STATE', reason: 'web runs.', remedy: 'Stop it first.' }] as const,
    };
    expect(ledger.inPlan(workOn('start', WEB), refused).refusals).toMatchObject([
      { code: 'BUSY' },
      { code: 'WRONG_STATE' },
    ]);
  });

  test('refuses as busy where a long operation is the reason for a wrong state', async () => {
    const wrong = new DomainError('WRONG_STATE', 'web runs: stop it first.');
    const check = async () => {
      throw wrong;
    };
    const work = workOn('clone', WEB, COPY);
    await expect(ledger.orBusy(work, check)).rejects.toBe(wrong);
    const tag = await acquire('tag');
    await expect(ledger.orBusy(work, check)).rejects.toBe(wrong);
    tag.release();
    (await acquire('migrate')).giveTo('migrate-web-1');
    await expect(ledger.orBusy(work, check)).rejects.toMatchObject({ details: { task: 'migrate-web-1' } });
    const reasons = [
      new DomainError('BUSY', 'Another change of the disks of web is in progress.'),
      new DomainError('VOLUME_NOT_FOUND', 'The disk web.qcow2 is missing.'),
    ];
    for (const reason of reasons)
      await expect(ledger.orBusy(work, () => Promise.reject(reason))).rejects.toMatchObject({
        details: { task: 'migrate-web-1' },
      });
    const invalid = new DomainError('INVALID_NAME', 'name is too long.');
    await expect(ledger.orBusy(work, () => Promise.reject(invalid))).rejects.toBe(invalid);
    expect(await ledger.orBusy(work, async () => 1)).toBe(1);
  });

  test('reports the tasks that change an instance or need it unchanged', async () => {
    const seen: string[] = [];
    ledger.subscribe((subjects) => seen.push(`${subjects.join()} ${ledger.taskOf(WEB)?.task}`));
    (await acquire('tag')).release();
    (await acquire('migrate')).giveTo('migrate-web-1');
    expect(ledger.taskOf(WEB)).toEqual({ operation: 'migrate', task: 'migrate-web-1' });
    ledger.endTask('migrate-web-1');
    ledger.endTask('migrate-web-1');
    expect(seen).toEqual([`${WEB} migrate-web-1`, `${WEB} undefined`]);
  });

  describe('with several replicas', () => {
    let claims: Map<string, string>;
    let a: Ledger;
    let b: Ledger;

    beforeEach(() => {
      claims = new Map();
      a = new Ledger({ clock, replicas: new ManualReplica('a', claims) });
      b = new Ledger({ clock, replicas: new ManualReplica('b', claims) });
    });

    test('lets a request wait for one of another replica', async () => {
      const first = await a.acquire(workOn('tag', WEB));
      const second = b.acquire(workOn('tag', WEB));
      expect(await isPending(second)).toBe(true);
      first.release();
      expect(await isPending(second)).toBe(true);
      clock.advance(200);
      (await second).release();
      expect(await isPending(Promise.resolve())).toBe(false);
      expect(claims.size).toBe(0);
    });

    test('refuses a request when another replica does not end its change', async () => {
      await a.acquire(workOn('delete', WEB));
      const second = b.acquire(workOn('tag', WEB));
      const refused = expect(second).rejects.toThrow('web is busy with a change by another replica.');
      for (let step = 0; step < 60; step++) {
        expect(await isPending(second)).toBe(step < 50);
        clock.advance(200);
      }
      await refused;
    });

    test('names the task of another replica once it is known', async () => {
      (await a.acquire(workOn('move', WEB, COPY))).giveTo('move-web-1');
      const second = b.acquire(workOn('tag', WEB));
      const refused = expect(second).rejects.toMatchObject({ details: { task: 'move-web-1' } });
      expect(await isPending(second)).toBe(true);
      b.adopt('move-web-1', workOn('move', WEB, COPY), false);
      clock.advance(200);
      await refused;
      a.endTask('move-web-1');
      b.endTask('move-web-1');
      (await b.acquire(workOn('tag', WEB))).release();
    });

    test('claims the instances of a task that it takes over', async () => {
      b.adopt('move-web-1', workOn('move', WEB), false);
      expect(claims.size).toBe(0);
      b.adopt('move-web-1', workOn('move', WEB), true);
      expect(await isPending(Promise.resolve())).toBe(false);
      expect([...claims]).toEqual([[`use ${WEB}`, 'b']]);
      b.endTask('move-web-1');
      expect(await isPending(Promise.resolve())).toBe(false);
      expect(claims.size).toBe(0);
    });

    test('keeps the claim while one of several operations uses the instance', async () => {
      const [one, two] = [await a.acquire(workOn('clone', WEB)), await a.acquire(workOn('export', WEB))];
      one.release();
      expect(await isPending(Promise.resolve())).toBe(false);
      expect(claims.size).toBe(1);
      two.release();
      expect(await isPending(Promise.resolve())).toBe(false);
      expect(claims.size).toBe(0);
    });

    test('has lost the reservations from before this replica was not alive for the others, and only these', async () => {
      const replica = new ManualReplica('a', claims);
      const ledger = new Ledger({ clock, replicas: replica });
      const lost: boolean[] = [];
      const look = (): void => void lost.push(ledger.isLost);
      const gate = Promise.withResolvers<void>();
      const stop = ledger.during(workOn('stop', WEB), async () => {
        look();
        await gate.promise;
        look();
      });
      expect(await isPending(stop)).toBe(true);
      replica.leave();
      look();
      replica.join();
      look();
      await ledger.during(workOn('tag', DB), async () => look());
      gate.resolve();
      await stop;
      expect(lost).toEqual([false, true, false, false, true]);
      expect(claims.size).toBe(0);
    });

    test('reserves nothing when the store can not be reached', async () => {
      class Unreachable extends ManualReplica {
        override async claim(): Promise<string> {
          throw new DomainError('NOT_READY', 'This replica does not reach the store.');
        }
      }
      const c = new Ledger({ clock, replicas: new Unreachable('c', claims) });
      await expect(c.acquire(workOn('tag', WEB))).rejects.toMatchObject({ code: 'NOT_READY' });
      expect(c.conflictsOf(workOn('delete', WEB).uses)).toEqual([]);
    });
  });
});

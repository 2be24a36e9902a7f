import { DomainError, formatRef } from '@headgate/domain-contracts';
import type { MemoryLiveDisks } from '@headgate/testing';
import type { MoveInput } from '../move-input.js';
import type { MoveRequest } from '../plan/move-request.js';
import { Moving, refOf } from '../testing/moving.js';
import { Killed, TaskRun, type KillPoint } from '../testing/task-run.js';

const MIB = 1024 ** 2;
const KIB = 1024;
const WEB = formatRef(refOf('web'));
const COPY = 'vm/other/default/web';
const STEPS = ['reserve', 'bulk', 'rounds', 'stop', 'rest', 'verify', 'commit', 'folder', 'release', 'delete'] as const;
const BEFORE_COMMIT = ['reserve', 'bulk', 'rounds', 'stop', 'rest', 'verify'] as const;

describe('a warm move', () => {
  let moving: Moving;
  beforeEach(() => {
    moving = new Moving();
    moving.start();
  });

  const liveDisks = (): MemoryLiveDisks => moving.lab.require('liveDisks') as MemoryLiveDisks;
  const ingest = () => moving.other.require('diskIngest');
  const plan = async (request: Partial<MoveRequest> = {}) =>
    (await moving.planMove.run({ ref: WEB, toBackend: 'memory', mode: 'warm', ...request })).plan;
  const begin = (input: Partial<MoveInput> = {}): TaskRun<MoveInput> =>
    new TaskRun(
      moving.task,
      {
        id: '0b3a2d0e-0000-4000-8000-000000000001',
        source: WEB,
        destination: COPY,
        uid: 'uid-web',
        mode: 'warm',
        wasRunning: true,
        deleteSource: false,
        mapping: { networks: {}, storageClasses: {} },
        ...input,
      },
      moving.clock,
    );
  const source = () => (moving.lab.engine.has(refOf('web')) ? moving.lab.engine.vm(refOf('web')).status : 'deleted');
  /** Writes as the guest does. */
  const write = (offset: number, text: string): void => {
    const content = Buffer.alloc(8 * MIB);
    (moving.lab.engine.disks.get(`${WEB} vda`) ?? moving.disk).copy(content);
    content.write(text, offset);
    moving.lab.engine.disks.set(`${WEB} vda`, content);
  };
  const expectComplete = (): void => {
    const { status, disk = Buffer.alloc(0) } = moving.copied() ?? { status: 'none' };
    const expected = latest ?? moving.disk;
    expect(status).toBe('Stopped');
    const size = Math.max(disk.length, expected.length);
    expect(padded(disk, size).equals(padded(expected, size))).toBe(true);
    expect(liveDisks().recordings).toEqual([]);
  };
  /** The content of the source when it was stopped. */
  let latest: Buffer | undefined;
  beforeEach(() => (latest = undefined));
  const stopped = (): void => {
    latest = moving.lab.engine.disks.get(`${WEB} vda`);
  };
  const expectUndone = (status = 'Running'): void => {
    expect([moving.copied(), source(), liveDisks().recordings]).toEqual([undefined, status, []]);
  };
  /** Calls a function before each call of a method, with the number of the call. */
  const before = <T extends object>(target: T, method: keyof T, act: (call: number) => void): void => {
    const original = (target[method] as unknown as (...args: unknown[]) => unknown).bind(target);
    let calls = 0;
    target[method] = ((...args: unknown[]) => {
      act(++calls);
      return original(...args);
    }) as never;
  };

  test('is planned with the time for the last changes, and changes nothing', async () => {
    const [warm, cold] = [await plan(), await plan({ mode: 'cold' })];
    expect(warm).toMatchObject({ ok: true, mode: 'warm', refusals: [] });
    expect(warm.steps.map(({ name }) => name)).toEqual([
      ...['receive', 'bulk', 'rounds', 'stop', 'rest', 'verify', 'commit', 'folder', 'keep'],
    ]);
    expect(cold.steps.map(({ name }) => name)).not.toContain('rounds');
    expect([source(), moving.copied(), liveDisks().recordings]).toEqual(['Running', undefined, []]);
  });

  test('promises less downtime than a cold one for a large disk', async () => {
    const vm = moving.lab.engine.vm(refOf('web'));
    moving.lab.engine.put({ ...vm, diskBytes: 1024 * MIB });
    const [warm, cold] = [await plan(), await plan({ mode: 'cold' })];
    expect(warm.estimatedDowntimeSeconds ?? 0).toBeLessThan((cold.estimatedDowntimeSeconds ?? 0) / 2);
  });

  test.each([
    ['a VM that is stopped', () => moving.lab.engine.setStatus(moving.lab.engine.vm(refOf('web')), 'Stopped')],
    [
      'a destination that takes whole disks only',
      () => Object.defineProperty(ingest(), 'updateProblem', { value: 'It takes whole disks only.' }),
    ],
  ])('refuses %s, and a cold move does not', async (_title, given) => {
    given();
    expect((await plan()).refusals).toMatchObject([{ code: 'MODE_NOT_SUPPORTED', remedy: 'Use cold.' }]);
    expect((await plan({ mode: 'cold' })).refusals).toEqual([]);
  });

  test('refuses disks whose changes the source can not record, with its reason', async () => {
    liveDisks().check = async () => [{ code: 'NOT_SUPPORTED', reason: 'vda is raw.', remedy: 'Use cold.' }];
    expect((await plan()).refusals).toMatchObject([{ code: 'NOT_SUPPORTED', category: 'source' }]);
  });

  test('copies what the guest writes at any time before it is stopped, and keeps the source', async () => {
    write(2 * MIB, 'before the move');
    before(ingest(), 'write', () => write(4 * MIB, 'during the copy'));
    before(liveDisks(), 'changes', (call) => {
      if (call === 1) write(6 * MIB, 'before the round');
    });
    const power = moving.lab.require('power');
    before(power, 'apply', () => {
      write(7 * MIB, 'while it shuts down');
      stopped();
    });
    const result = await begin().run();
    expectComplete();
    expect(latest?.includes('while it shuts down')).toBe(true);
    expect([source(), result]).toMatchObject(['Stopped', { destination: COPY, promisedDowntimeSeconds: 11.1 }]);
  });

  test('promises the downtime after the last round, the second time with the shutdown that was measured', async () => {
    const power = moving.lab.require('power');
    before(power, 'apply', () => moving.clock.advance(2400));
    const first = begin();
    const { promisedDowntimeSeconds, ...result } = (await first.run()) as Record<string, number>;
    expect(promisedDowntimeSeconds).toBeGreaterThan(10);
    expect(result).toMatchObject({ shutdownSeconds: 2.4, downtimeSeconds: 2.4 });
    expect(first.log).toContainEqual(expect.stringContaining('which was never measured'));

    moving.other.engine.remove({ ...refOf('web'), context: 'other' });
    moving.start();
    expect(await plan()).toMatchObject({ minDowntimeSeconds: 1, estimatedDowntimeSeconds: 4, maxDowntimeSeconds: 4 });
    // Another process, which has only the store.
    const second = begin({ id: '0b3a2d0e-0000-4000-8000-000000000002' });
    expect(await second.run({ step: 'rounds', when: 'finished' }).catch((error: unknown) => error)).toBeInstanceOf(
      Killed,
    );
    const restarted = second.after(moving.task);
    expect(await restarted.restart()).toMatchObject({ promisedDowntimeSeconds: 3.5, downtimeSeconds: 2.4 });
    expect(restarted.log).toContainEqual(expect.stringContaining('2.4 s to shut down, as before'));
  });

  test('copies zeros over what the guest has deleted', async () => {
    before(ingest(), 'write', () => {
      moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(8 * MIB));
    });
    await begin().run();
    stopped();
    expectComplete();
  });

  test('copies at most 2 % again of the disk of a guest that writes little', async () => {
    before(ingest(), 'write', () => write(4 * MIB, 'a line of a log'));
    expect(await begin().run()).toMatchObject({ recopiedBytes: 64 * KIB });
    expect((64 * KIB) / (8 * MIB)).toBeLessThanOrEqual(0.02);
  });

  test('compares again only the blocks that were copied again, and none of the others', async () => {
    before(ingest(), 'write', () => write(4 * MIB + 10, 'changed'));
    const read: number[] = [];
    const changes = liveDisks().changes.bind(liveDisks());
    liveDisks().changes = async (...args) => {
      const found = await changes(...args);
      return { ...found, read: (offset, length) => (found.isLast && read.push(offset), found.read(offset, length)) };
    };
    const open = jestless();
    moving.lab.require('diskSource').open = open.fails;
    await begin().run();
    expect(read).toEqual([4 * MIB]);
    expect(open.calls()).toBe(0);
  });

  test('ends its rounds although the guest writes faster than they copy', async () => {
    const size = 16 * MIB;
    moving.lab.engine.put({ ...moving.lab.engine.vm(refOf('web')), diskBytes: size });
    let round = 0;
    before(liveDisks(), 'changes', () => {
      if (source() === 'Running') moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(size, `round ${++round}`));
    });
    const run = begin();
    await run.run();
    stopped();
    expectComplete();
    expect(run.log.filter((line) => line.startsWith('Round'))).toHaveLength(2);
  });

  test('deletes the source at the end if that was asked for, without its recording', async () => {
    moving.records.folders.set(WEB, 'prod');
    await begin({ deleteSource: true }).run();
    expect([source(), [...moving.records.folders.keys()], liveDisks().recordings]).toEqual(['deleted', [COPY], []]);
  });

  test('becomes a cold one when the guest stops during the copy', async () => {
    before(liveDisks(), 'open', () => {
      write(5 * MIB, 'the last words');
      stopped();
      moving.lab.engine.setStatus(moving.lab.engine.vm(refOf('web')), 'Stopped');
    });
    const run = begin();
    await run.run();
    expectComplete();
    expect(run.log).toContainEqual(expect.stringContaining('continues as a cold one'));
  });

  test('is undone when the record of the changes is lost while the guest runs', async () => {
    before(liveDisks(), 'changes', () => liveDisks().lose());
    await expect(begin({ deleteSource: true }).run()).rejects.toThrow('is not complete');
    expectUndone();
  });

  test('compares the whole disk when the record is lost with the guest', async () => {
    const power = moving.lab.require('power');
    before(power, 'apply', () => {
      write(7 * MIB, 'not recorded');
      stopped();
      liveDisks().lose();
    });
    const run = begin();
    await run.run();
    expectComplete();
    expect(run.log).toContainEqual(expect.stringContaining('The whole disk vda is compared.'));
  });

  test('is undone when the destination is full in the middle of the changes', async () => {
    before(ingest(), 'write', () => write(4 * MIB, 'changed'));
    const update = ingest().update.bind(ingest());
    ingest().update = async (...args) => ({
      ...(await update(...args)),
      write: async () => {
        throw new DomainError('INSUFFICIENT_STORAGE', 'The storage of the new disk is full.');
      },
    });
    await expect(begin({ deleteSource: true }).run()).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
    expectUndone();
  });

  test('is undone when the copy differs after its last changes, and starts the guest again', async () => {
    before(ingest(), 'write', () => write(4 * MIB, 'changed'));
    const update = ingest().update.bind(ingest());
    ingest().update = async (...args) => {
      const opened = await update(...args);
      return { ...opened, write: (offset, data) => opened.write(offset, Buffer.alloc(data.length, 'x')) };
    };
    await expect(begin({ deleteSource: true }).run()).rejects.toThrow('differs from the source in the block 4');
    expectUndone();
  });

  test('is undone when the copy of the whole disk differs, before the guest is stopped', async () => {
    const write = ingest().write.bind(ingest());
    ingest().write = async (...args) => {
      const writer = await write(...args);
      return { ...writer, write: (offset, data) => writer.write(offset, Buffer.alloc(data.length, 'x')) };
    };
    const run = begin({ deleteSource: true });
    await expect(run.run()).rejects.toThrow('differs from the source in the block 0');
    expectUndone();
  });

  test.each([
    ['open', 'bulk'],
    ['changes', 'rounds'],
    ['update', 'the changes'],
    ['hashes', 'the comparison'],
  ] as const)('is undone when it is canceled before %s of %s', async (method, _where) => {
    before(ingest(), 'write', () => write(4 * MIB, 'changed'));
    const run = begin({ deleteSource: true });
    const target = method === 'open' || method === 'changes' ? liveDisks() : ingest();
    before(target, method as never, () => run.abort.abort(new Error('Canceled by ann.')));
    await expect(run.run()).rejects.toBeDefined();
    expectUndone();
  });

  test('is undone when it is canceled after the guest was stopped, which runs again', async () => {
    const run = begin({ deleteSource: true });
    before(liveDisks(), 'changes', (call) => {
      if (call === 2) run.abort.abort(new Error('Canceled by ann.'));
    });
    await expect(run.run()).rejects.toBeDefined();
    expectUndone();
  });

  const kills = STEPS.flatMap((step): KillPoint[] => [
    { step, when: 'before' },
    { step, when: 'after' },
    { step, when: 'finished' },
  ]);
  test.each(kills)('that is killed $when its work in the step $step is completed after the restart', async (kill) => {
    before(ingest(), 'write', () => write(4 * MIB, 'during the copy'));
    const power = moving.lab.require('power');
    before(power, 'apply', () => {
      write(7 * MIB, 'while it shuts down');
      stopped();
    });
    const run = begin({ deleteSource: true });
    await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
    // The hashes in memory are lost; the guest continues to write, unless it was stopped.
    if (source() === 'Running') write(5 * MIB, 'while the service was away');
    const restarted = run.after(moving.task);
    await restarted.restart();
    expectComplete();
    expect(source()).toBe('deleted');
  });

  test.each(BEFORE_COMMIT)(
    'that is killed in the step %s without the record of changes loses nothing',
    async (step) => {
      before(ingest(), 'write', () => write(4 * MIB, 'during the copy'));
      const run = begin({ deleteSource: true });
      await expect(run.run({ step, when: 'after' })).rejects.toBeInstanceOf(Killed);
      if (source() === 'Running') write(5 * MIB, 'while the service was away');
      liveDisks().lose();
      const outcome = await run
        .after(moving.task)
        .restart()
        .then(
          () => 'done',
          () => 'undone',
        );
      stopped();
      if (outcome === 'undone') expectUndone();
      else expect([source(), moving.copied()?.status, liveDisks().recordings]).toEqual(['deleted', 'Stopped', []]);
    },
  );
});

const padded = (content: Buffer, size: number): Buffer => Buffer.concat([content, Buffer.alloc(size - content.length)]);

/** A function that must not be called, and how often it was. */
function jestless(): { readonly fails: () => never; readonly calls: () => number } {
  let calls = 0;
  return {
    fails: () => {
      calls++;
      throw new Error('This must not be called.');
    },
    calls: () => calls,
  };
}

import { DomainError, SingleReplica } from '@headgate/domain-contracts';
import { GRACE_MS } from './due.js';
import { MAX_RUNS } from './run-records.js';
import { MAX_WAIT_MS, type Scheduler } from './scheduler.js';
import {
  buildSchedule,
  HOUR_MS,
  MINUTE_MS,
  Moments,
  MortalReplica,
  ScheduleWorld,
  START,
} from './testing/schedule-world.js';

const at = (hours: number): string => new Date(START + hours * HOUR_MS).toISOString();

describe('the scheduler', () => {
  let world: ScheduleWorld;
  let scheduler: Scheduler;

  beforeEach(() => {
    world = new ScheduleWorld();
  });
  afterEach(() => scheduler.close());

  /** Lets time pass as timers do: in short waits. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= MAX_WAIT_MS) {
      world.clock.advance(Math.min(left, MAX_WAIT_MS));
      await scheduler.settled();
    }
  };
  const open = async (): Promise<void> => {
    scheduler = world.open(new SingleReplica());
    await scheduler.settled();
  };

  test('runs a schedule at its time, once, as its owner, and records the end of its task', async () => {
    await world.store.put(buildSchedule());
    await open();
    await pass(HOUR_MS - 1);
    expect(world.started).toEqual([]);
    await pass(1);
    expect(world.started).toEqual([`${at(1)} ann`]);
    const [run] = world.runs();
    expect(run).toMatchObject({
      planned: at(1),
      trigger: 'time',
      status: 'running',
      task: 'task-0',
      replica: 'single',
    });
    world.end(run?.task);
    scheduler.wake();
    await scheduler.settled();
    expect(world.runs()).toMatchObject([{ status: 'done', endedAt: at(1) }]);
    await pass(30 * MINUTE_MS);
    expect(world.started).toHaveLength(1);
    expect(world.audit.entries).toMatchObject([
      { action: 'run schedule', ref: 'schedule/night', caller: 'ann', outcome: 'ok' },
    ]);
  });

  test('records the error of a task, also without a sign of its end', async () => {
    await world.store.put(buildSchedule());
    await open();
    await pass(HOUR_MS);
    world.end('task-0', 'error', '2 of 3 failed.');
    await pass(MAX_WAIT_MS);
    expect(world.runs()).toMatchObject([{ status: 'error', reason: '2 of 3 failed.' }]);
  });

  test('skips a planned time while an earlier run has not ended', async () => {
    await world.store.put(buildSchedule());
    await open();
    await pass(2 * HOUR_MS);
    expect(world.started).toEqual([`${at(1)} ann`]);
    expect(world.runs()).toMatchObject([
      { planned: at(2), status: 'skipped', reason: `The run of ${at(1)} had not ended.` },
      { planned: at(1), status: 'running' },
    ]);
    expect(world.runs()[0]).not.toHaveProperty('task');
    world.end('task-0');
    await pass(HOUR_MS);
    expect(world.started).toEqual([`${at(1)} ann`, `${at(3)} ann`]);
  });

  test('keeps the last 20 runs, and an active one however old it is', async () => {
    await world.store.put(buildSchedule({ cron: '* * * * *' }));
    await open();
    await pass(30 * MINUTE_MS);
    expect(world.runs()).toHaveLength(MAX_RUNS);
    expect(world.runs().at(-1)).toMatchObject({
      planned: new Date(START + MINUTE_MS).toISOString(),
      status: 'running',
    });
    expect(world.runs()[0]).toMatchObject({ planned: new Date(START + 30 * MINUTE_MS).toISOString() });
  });

  test('records a run that finds nothing, and one whose owner has lost their rights', async () => {
    await world.store.put(buildSchedule());
    await open();
    world.hasMembers = false;
    await pass(HOUR_MS);
    world.refusal = new DomainError('NOT_PERMITTED', 'ann has no rights any more.');
    await pass(HOUR_MS);
    expect(world.runs()).toMatchObject([
      { planned: at(2), status: 'error', reason: 'ann has no rights any more.' },
      { planned: at(1), status: 'empty', reason: 'No instance matched.' },
    ]);
    expect(world.audit.entries.map(({ outcome }) => outcome)).toEqual(['ok', 'error']);
  });

  test('runs nothing that is disabled, and continues when one schedule of many fails', async () => {
    await world.store.put(buildSchedule({ id: 'off', enabled: false }));
    await world.store.put(buildSchedule({ id: 'bad', timeZone: 'Gone/Zone' }));
    await world.store.put(buildSchedule({ id: 'newer', job: { kind: 'unknown', params: {} } }));
    await world.store.put(buildSchedule());
    await open();
    await pass(HOUR_MS);
    expect(world.started).toEqual([`${at(1)} ann`]);
    expect([world.runs('off'), world.runs('bad'), world.runs('newer')]).toEqual([[], [], []]);
  });

  test.each([
    ['skip', [], [{ planned: at(9), status: 'missed', trigger: 'time', missedBefore: 8 }]],
    ['once', [`${at(9)} ann`], [{ planned: at(9), status: 'running', trigger: 'late', missedBefore: 8 }]],
  ] as const)('after an outage: %s', async (missed, started, runs) => {
    await world.store.put(buildSchedule({ missed }));
    world.clock.advance(9.5 * HOUR_MS);
    await open();
    expect(world.started).toEqual(started);
    expect(world.runs()).toMatchObject(runs);
    world.end('task-0');
    await pass(HOUR_MS);
    expect(world.started).toEqual([...started, `${at(10)} ann`]);
  });

  test('runs on time after a restart that takes less than the grace', async () => {
    await world.store.put(buildSchedule());
    world.clock.advance(HOUR_MS + GRACE_MS);
    await open();
    expect(world.runs()).toMatchObject([{ planned: at(1), trigger: 'time', status: 'running' }]);
  });

  test('never runs a planned time twice when the clock is set back', async () => {
    await world.store.put(buildSchedule());
    await open();
    await pass(2 * HOUR_MS);
    world.end('task-0');
    await scheduler.close();
    const behind = new ScheduleWorld('later');
    for (const schedule of world.store.all()) await behind.store.put(schedule);
    behind.tasks.set('task-0', { status: 'done', error: '' });
    world = behind;
    await open();
    await pass(2 * HOUR_MS);
    expect(world.started).toEqual([]);
    await pass(HOUR_MS);
    expect(world.started).toEqual([`${at(3)} ann`]);
  });

  test('also not when its times were edited after the clock was set back', async () => {
    await world.store.put(buildSchedule());
    await open();
    await pass(HOUR_MS);
    world.end('task-0');
    await pass(MAX_WAIT_MS);
    await world.store.change('ann', 'night', (one) => ({ ...one, after: at(0) }));
    await pass(30 * MINUTE_MS);
    expect(world.started).toEqual([`${at(1)} ann`]);
    expect(world.store.all()[0]?.after).toBe(at(1));
  });

  test('notices a clock that is set forward, and changes by other replicas, within one wait', async () => {
    await world.store.put(buildSchedule({ cron: '@yearly' }));
    await open();
    expect(world.clock.pending).toBe(1);
    await world.store.put(buildSchedule({ id: 'other', after: at(-1) }));
    await pass(MAX_WAIT_MS);
    expect(world.started).toEqual([`${at(0)} ann`]);
  });

  test('has one timer, and none after it was closed', async () => {
    for (const id of ['a', 'b', 'c']) await world.store.put(buildSchedule({ id }));
    await open();
    for (let count = 0; count < 10; count++) scheduler.wake();
    await scheduler.settled();
    expect(world.clock.pending).toBe(1);
    await scheduler.close();
    scheduler.wake();
    await scheduler.settled();
    expect(world.clock.pending).toBe(0);
    world.clock.advance(HOUR_MS);
    expect(world.started).toEqual([]);
  });

  describe('on request', () => {
    test('runs a schedule now, also a disabled one, and leaves its times as they are', async () => {
      const schedule = buildSchedule({ enabled: false });
      await world.store.put(schedule);
      await open();
      world.clock.advance(10 * MINUTE_MS);
      const run = await scheduler.starter.runNow(schedule);
      expect(run).toMatchObject({ trigger: 'request', status: 'running', task: 'task-0' });
      expect(world.runs()).toEqual([run]);
      expect(world.store.all()[0]?.after).toBe(at(0));
    });

    test('refuses while a run is active, and runs once for requests that meet', async () => {
      const schedule = buildSchedule();
      await world.store.put(schedule);
      await open();
      const answers = await Promise.allSettled([1, 2, 3].map(() => scheduler.starter.runNow(schedule)));
      expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'WRONG_STATE' } });
      expect(world.started).toHaveLength(1);
    });

    test('refuses a schedule that was deleted meanwhile', async () => {
      await open();
      await expect(scheduler.starter.runNow(buildSchedule())).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    });
  });

  describe('of several replicas', () => {
    test('only the leader runs schedules, and a new one does not repeat what the last one has run', async () => {
      await world.store.put(buildSchedule());
      const [a, b] = ['a', 'b'].map((id) => new MortalReplica(id, new Set()));
      const first = world.open(a!);
      scheduler = world.open(b!);
      a!.elect();
      await first.settled();
      world.clock.advance(HOUR_MS);
      await Promise.all([first.settled(), scheduler.settled()]);
      expect(world.runs()).toMatchObject([{ replica: 'a', status: 'running' }]);
      a!.depose();
      b!.elect();
      await scheduler.settled();
      world.end('task-0');
      await pass(HOUR_MS);
      await first.settled();
      expect(world.runs()).toMatchObject([
        { planned: at(2), replica: 'b', status: 'running' },
        { planned: at(1), status: 'done' },
      ]);
      expect(world.started).toHaveLength(2);
      await first.close();
    });

    test('a run that another living replica is starting is left alone', async () => {
      const gone = new Set<string>();
      await world.store.put(buildSchedule());
      const [a, b] = ['a', 'b'].map((id) => new MortalReplica(id, gone));
      world.open(a!, new Moments(2));
      a!.elect();
      world.clock.advance(HOUR_MS);
      scheduler = world.open(b!);
      b!.elect();
      await scheduler.settled();
      expect(world.runs()).toMatchObject([{ status: 'starting', replica: 'a' }]);
      gone.add('a');
      await pass(MAX_WAIT_MS);
      expect(world.runs()).toMatchObject([{ status: 'running', replica: 'b', task: 'task-0' }]);
      expect(world.started).toHaveLength(1);
    });
  });
});

describe('a process that is killed at any moment', () => {
  /** All moments of a run: two changes of the store, and its task. */
  const MOMENTS = [
    'before a change',
    'after a change',
    'before the task',
    'after the task',
    'before a change',
    'after a change',
  ];

  const kill = async (killAt: number, missed: 'skip' | 'once', laterMs: number, isShared: boolean) => {
    const world = new ScheduleWorld();
    const moments = new Moments(killAt);
    const gone = new Set<string>();
    await world.store.put(buildSchedule({ missed }));
    const [a, b] = isShared
      ? ['a', 'b'].map((id) => new MortalReplica(id, gone))
      : [new SingleReplica(), new SingleReplica()];
    world.open(a!, moments);
    if (a instanceof MortalReplica) a.elect();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    world.clock.advance(HOUR_MS);
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    gone.add('a');
    world.clock.advance(laterMs);
    const next = world.open(b!);
    if (b instanceof MortalReplica) b.elect();
    await next.settled();
    await next.close();
    return { world, reached: moments.reached };
  };

  test('the moments are these', async () => {
    expect((await kill(Infinity, 'skip', 1000, false)).reached).toEqual(MOMENTS);
  });

  describe.each(MOMENTS.map((name, index) => [`${index + 1}: ${name}`, index + 1] as const))('%s', (_name, killAt) => {
    test.each([false, true])(
      'soon afterwards, the run has begun exactly once (several replicas: %s)',
      async (isShared) => {
        for (const missed of ['skip', 'once'] as const) {
          const { world } = await kill(killAt, missed, 1000, isShared);
          expect(world.started).toEqual([`${at(1)} ann`]);
          expect(world.runs()).toMatchObject([{ planned: at(1), status: 'running', task: expect.any(String) }]);
        }
      },
    );

    test('long afterwards, it is never begun twice, and it is recorded if it was not', async () => {
      for (const missed of ['skip', 'once'] as const) {
        const { world } = await kill(killAt, missed, 20 * MINUTE_MS, false);
        const hadBegun = killAt > 3;
        expect(world.started).toEqual(hadBegun || missed === 'once' ? [`${at(1)} ann`] : []);
        expect(world.runs()).toMatchObject([
          { planned: at(1), status: hadBegun || missed === 'once' ? 'running' : 'missed' },
        ]);
      }
    });
  });
});

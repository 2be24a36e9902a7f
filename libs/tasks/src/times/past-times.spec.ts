import { FORCED, workOn, type Work } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { ann, CopyTasks, never, type Step } from '../testing/copy-tasks.js';
import { PastTimes } from './past-times.js';

const WEB = 'vm/lab/local/web';
const plan = (...names: readonly string[]) => ({ steps: names.map((name) => ({ name, detail: 'of web' })) });

describe('the times of requests', () => {
  let clock: FixedClock;
  let times: PastTimes;

  beforeEach(() => {
    clock = new FixedClock();
    times = new PastTimes(clock);
  });

  const request = (work: Work, seconds: number) => times.during(work, async () => clock.advance(seconds * 1000));

  test('are in the plans of the same operation, and in their only step', async () => {
    const work = workOn('stop', WEB);
    const before = plan('stop');
    expect(times.inPlan(work, before)).toBe(before);
    await request(work, 4);
    await request(workOn('stop', 'vm/lab/local/db'), 2);
    const seconds = { low: 2, high: 4, measured: 2 };
    expect(times.inPlan(work, before)).toEqual({ steps: [{ name: 'stop', detail: 'of web', seconds }], seconds });
    expect(times.inPlan(work, plan('stop', 'start')).steps).toEqual(plan('stop', 'start').steps);
    expect(times.inPlan(workOn('start', WEB), before)).toBe(before);
    expect(times.inPlan(work, plan())).toEqual(plan());
  });

  test('are those of the variant', async () => {
    await request(workOn('stop', WEB), 30);
    const forced = { ...workOn('stop', WEB), variant: FORCED };
    expect(times.inPlan(forced, plan('stop'))).not.toHaveProperty('seconds');
    await request(forced, 1);
    await request(workOn('stop', 'ct/lab/local/web'), 9);
    expect(times.inPlan(forced, plan('stop'))).toMatchObject({ seconds: { low: 1, high: 1, measured: 1 } });
    expect(times.inPlan(workOn('stop', WEB), plan('stop'))).toMatchObject({ seconds: { measured: 1 } });
  });

  test('come from other contexts of the kind while the own one has none', async () => {
    times.compareBy((context) => ({ lab: 'libvirt', rack: 'libvirt', east: 'kubevirt' })[context]);
    await request(workOn('start', 'vm/rack/local/a'), 3);
    await request(workOn('start', 'vm/east/local/a'), 90);
    expect(times.inPlan(workOn('start', WEB), plan('start'))).toMatchObject({ seconds: { high: 3, measured: 1 } });
    await request(workOn('start', WEB), 1);
    expect(times.inPlan(workOn('start', WEB), plan('start'))).toMatchObject({ seconds: { high: 1, measured: 1 } });
    expect(times.inPlan(workOn('start', 'vm/gone/local/a'), plan('start'))).not.toHaveProperty('seconds');
  });

  test('do not count when they fail, or surround another request', async () => {
    const failing = times.during(workOn('stop', WEB), async () => {
      clock.advance(1000);
      throw new Error('no answer');
    });
    await expect(failing).rejects.toThrow('no answer');
    expect(times.inPlan(workOn('stop', WEB), plan('stop'))).not.toHaveProperty('seconds');
    const image = workOn('use-image', 'image/lab/local/debian');
    await times.during(image, () => request(workOn('create', WEB), 2));
    expect(times.inPlan(image, plan('create'))).not.toHaveProperty('seconds');
    expect(times.inPlan(workOn('create', WEB), plan('create'))).toMatchObject({ seconds: { low: 2 } });
  });

  test('are measured elsewhere where the request only begins the work', async () => {
    const work: Work = { ...workOn('stop', WEB), endsLater: true };
    await request(work, 0.1);
    expect(times.inPlan(work, plan('stop'))).not.toHaveProperty('seconds');
    times.record(work, 8);
    expect(times.inPlan(work, plan('stop'))).toMatchObject({ seconds: { low: 8, high: 8, measured: 1 } });
  });

  test('add up for a bulk task, unless a member was never measured', async () => {
    await request(workOn('start', WEB), 2);
    await request(workOn('start', WEB), 4);
    const refs = ['a', 'b', 'c', 'd'].map((name) => `vm/lab/local/${name}`);
    expect(times.bulk({ action: 'start', atOnce: 1 }, refs)).toEqual({ low: 8, high: 16, measured: 2 });
    expect(times.bulk({ action: 'start', atOnce: 2 }, refs)).toEqual({ low: 4, high: 12, measured: 2 });
    expect(times.bulk({ action: 'start' }, refs)).toEqual({ low: 2, high: 4, measured: 2 });
    expect(times.bulk({ action: 'start' }, [...refs, 'vm/other/local/e'])).toBeUndefined();
    expect(times.bulk({ action: 'stop', force: true }, refs)).toBeUndefined();
    // Shutdowns go on after their requests.
    await request(workOn('stop', WEB), 2);
    expect(times.bulk({ action: 'stop' }, refs)).toBeUndefined();
    expect(times.bulk({ action: 'start', waitReady: true }, refs)).toBeUndefined();
  });

  test('are forgotten for the kinds that were used longest ago', async () => {
    await request(workOn('stop', WEB), 2);
    for (let n = 0; n < 1000; n++) await request({ ...workOn('start', WEB), variant: `v${n}` }, 1);
    expect(times.inPlan(workOn('stop', WEB), plan('stop'))).not.toHaveProperty('seconds');
    expect(times.inPlan({ ...workOn('start', WEB), variant: 'v999' }, plan('start'))).toHaveProperty('seconds');
  });
});

describe('the times of tasks', () => {
  const work = workOn('move', WEB);
  let tasks: CopyTasks;

  beforeEach(() => {
    tasks = new CopyTasks();
  });

  const takes =
    (seconds: number): Step =>
    async () =>
      tasks.clock.advance(seconds * 1000);

  /** Starts the task as a request does, and waits for its end. */
  const run = async (copy: Step, more: object = {}) => {
    const { board, start } = tasks.open({ prepare: takes(1), copy }, more);
    const id = await tasks.times.during(work, start);
    await tasks.settled();
    return { board, id, task: tasks.store.get(id) };
  };
  const planned = () => tasks.times.inPlan(work, plan('prepare', 'copy', 'sign'));

  test('are promised by the next plan and the next task, and both have what they took', async () => {
    const first = await run(takes(3));
    expect(first.task).not.toHaveProperty('promised');
    expect(first.task).toMatchObject({ tookSeconds: 4, steps: [{ tookSeconds: 1 }, { tookSeconds: 3 }, {}] });
    await run(takes(5));
    const copySeconds = { low: 3, high: 5, measured: 2 };
    const seconds = { low: 4, high: 6, measured: 2 };
    expect(planned()).toEqual({
      seconds,
      steps: [
        { name: 'prepare', detail: 'of web', seconds: { low: 1, high: 1, measured: 2 } },
        { name: 'copy', detail: 'of web', seconds: copySeconds },
        { name: 'sign', detail: 'of web' },
      ],
    });
    const { task } = await run(takes(4));
    expect(task).toMatchObject({ promised: seconds, tookSeconds: 5 });
    expect(task?.steps[1]).toMatchObject({ name: 'copy', promised: copySeconds, tookSeconds: 4 });
  });

  test('have those of the parts that the steps name, also together', async () => {
    const { task } = await run(async ({ part }) => {
      part?.('Converting the image');
      tasks.clock.advance(2000);
      part?.('Storing the image');
      tasks.clock.advance(5000);
    });
    expect(task?.log).toBe('prepare\ncopy\nConverting the image\nStoring the image\nswitch');
    const store = { name: 'store', detail: '', reportedAs: ['Converting the image', 'Storing the image'] };
    const upload = { name: 'upload', detail: '', reportedAs: ['Converting the image', 'Uploading the image'] };
    const { steps } = tasks.times.inPlan(work, { steps: [store, upload] });
    expect(steps).toEqual([{ ...store, seconds: { low: 7, high: 7, measured: 1 } }, upload]);
  });

  test('survive a restart', async () => {
    await run(takes(3));
    await tasks.restart({});
    expect(planned()).toMatchObject({ seconds: { low: 4, high: 4, measured: 1 } });
  });

  test('have the interruption that the tasks have measured', async () => {
    await run(takes(3), { result: () => ({ downtimeMs: 420 }) });
    expect(planned()).toMatchObject({ interruption: { low: 0.4, high: 0.5, measured: 1 } });
  });

  test('do not count when the task fails', async () => {
    const { task } = await run(async () => {
      throw new Error('disk full');
    });
    expect(task).toMatchObject({ status: 'error' });
    expect(task).not.toHaveProperty('tookSeconds');
    expect(planned()).not.toHaveProperty('seconds');
  });

  test('do not count when the task is canceled', async () => {
    const { board, id } = await run(
      ({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    await board.cancelTask(id, ann);
    await tasks.settled();
    expect(tasks.store.get(id)).toMatchObject({ status: 'error', canceledBy: 'ann' });
    expect(planned()).not.toHaveProperty('seconds');
  });

  test('do not count when the task continues after a restart, also not after another one', async () => {
    const { id } = await run(never);
    tasks.clock.advance(3_600_000);
    await tasks.restart({ copy: takes(2) }, { resume: async () => ({ action: 'continue' }) });
    const task = tasks.store.get(id);
    expect(task).toMatchObject({ status: 'done' });
    expect(task).not.toHaveProperty('tookSeconds');
    expect(planned()).not.toHaveProperty('seconds');
    await tasks.restart({});
    expect(planned()).not.toHaveProperty('seconds');
  });

  test('do not count the wait for a backend, but the other steps', async () => {
    const { task } = await run(async ({ isDelayed }) => {
      tasks.clock.advance(30_000);
      isDelayed?.();
    });
    expect(task).toMatchObject({ status: 'done', steps: [{ tookSeconds: 1 }, { name: 'copy' }, {}] });
    expect(task?.steps[1]).not.toHaveProperty('tookSeconds');
    expect(task).not.toHaveProperty('tookSeconds');
  });

  test('are measured although the time of the system is changed', async () => {
    let offset = 0;
    const now = tasks.clock.now.bind(tasks.clock);
    tasks.clock.now = () => now() + offset;
    tasks.clock.monotonic = now;
    const { task } = await run(async () => {
      offset = -86_400_000;
      tasks.clock.advance(3000);
    });
    expect(task).toMatchObject({ tookSeconds: 4 });
  });

  test('are those of the variant that is known when the task starts', async () => {
    const { board } = tasks.open({});
    const definition = { kind: 'disk' as const, steps: () => [] };
    const disks = board.define(definition);
    const start = () => disks.start({ name: 'web', ref: WEB, input: {}, variant: 'large' }, ann);
    await tasks.times.during(work, start);
    await tasks.settled();
    expect(planned()).not.toHaveProperty('seconds');
    expect(tasks.times.inPlan({ ...work, variant: 'large' }, plan('copy'))).toHaveProperty('seconds');
  });

  test('belong to the request only while it goes on, and to its first task', async () => {
    const { start } = tasks.open({ copy: takes(1) });
    let later: Promise<string> | undefined;
    const gate = Promise.withResolvers<void>();
    await tasks.times.during(work, async () => {
      later = gate.promise.then(start);
    });
    gate.resolve();
    const id = await later;
    await tasks.settled();
    expect(tasks.store.get(id ?? '')).not.toHaveProperty('timedAs');
    const [first, second] = await tasks.times.during(work, async () => [await start(), await start()]);
    await tasks.settled();
    expect(tasks.store.get(first ?? '')).toHaveProperty('timedAs');
    expect(tasks.store.get(second ?? '')).not.toHaveProperty('timedAs');
  });
});

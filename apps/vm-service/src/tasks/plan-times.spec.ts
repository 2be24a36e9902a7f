import 'reflect-metadata';
import type { BulkPlanView, PlanView, TaskView } from '@headgate/api-contracts';
import { Clock } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { Edge } from '../testing/edge.js';

const MIGRATE = '/api/vms/default/db/migrate';
const STOP = '/api/vms/default/db/stop';
const FORCE = '&force=true';

describe('the durations in plans', () => {
  let edge: Edge;
  let elapsedMs = 0;
  /** How long the backend takes for the next requests, in seconds. */
  let seconds: number;

  beforeEach(async () => {
    edge = new Edge(new MemoryBackend('lab'));
    const [migration, power] = [edge.lab.require('migration'), edge.lab.require('power')];
    const [migrate, apply] = [migration.migrate.bind(migration), power.apply.bind(power)];
    const takeTime = (): void => void (elapsedMs += seconds * 1000);
    migration.migrate = async (...args) => {
      const work = await migrate(...args);
      return async (report) => {
        takeTime();
        await work(report);
      };
    };
    const snapshots = edge.lab.require('snapshots');
    const restore = snapshots.restore.bind(snapshots);
    snapshots.restore = async (...args) => {
      const work = await restore(...args);
      return (report) => work({ ...report, commit: async () => takeTime() });
    };
    power.apply = async (...args) => {
      takeTime();
      await apply(...args);
    };
    await edge.open();
    setClock();
  });

  afterEach(() => edge.close());

  const setClock = (): void => void (edge.service.app.get(Clock).monotonic = () => elapsedMs);
  const planOf = async (path: string, body?: object, query = ''): Promise<PlanView> => {
    const answer = await edge.send('POST', `${path}?dryRun=true${query}`, body);
    expect([answer.status, answer.json.error]).toEqual([200, undefined]);
    return answer.json as unknown as PlanView;
  };
  const migrate = async (takesSeconds: number): Promise<TaskView> => {
    seconds = takesSeconds;
    const { json } = await edge.send('POST', MIGRATE);
    const ended = (await edge.logged(json['task'], 'never logged')) as unknown as TaskView;
    expect(ended).toMatchObject({ status: 'done' });
    return ended;
  };
  const stop = async (takesSeconds: number): Promise<void> => {
    seconds = takesSeconds;
    expect((await edge.send('POST', `${STOP}?force=true`)).status).toBe(200);
    await edge.send('POST', '/api/vms/default/db/start');
  };

  test('appear once the operation was carried out, with how long the guest did not run', async () => {
    const first = await planOf(MIGRATE);
    expect(first).toEqual({ steps: [{ name: 'migrate', detail: expect.any(String) }], warnings: [], refusals: [] });
    expect(await migrate(3)).not.toHaveProperty('promised');
    const once = { low: 3, high: 3, measured: 1 };
    expect(await planOf(MIGRATE)).toMatchObject({
      seconds: once,
      steps: [{ name: 'migrate', seconds: once }],
      interruption: { low: 0.1, high: 0.2, measured: 1 },
    });
    await migrate(2);
    await migrate(4.5);
    expect(await planOf(MIGRATE)).toMatchObject({ seconds: { low: 2, high: 4.5, measured: 3 } });
    // No other operation has them.
    expect(await planOf(STOP, undefined, FORCE)).not.toHaveProperty('seconds');
  });

  test('are in the task: the promise, and the measured one', async () => {
    await migrate(2);
    await migrate(4);
    const task = await migrate(3);
    expect(task).toMatchObject({ promised: { low: 2, high: 4, measured: 2 }, tookSeconds: 3 });
    expect(task.steps).toMatchObject([
      { name: 'Request the migration', promised: { low: 0, measured: 2 }, tookSeconds: 0 },
      { name: 'Follow the migration', promised: { low: 2, high: 4, measured: 2 }, tookSeconds: 3 },
    ]);
    expect(task).not.toHaveProperty('timedAs');
  });

  test('of a step are those of the part of the task that carries it out', async () => {
    const restore = '/api/vms/default/db/snapshots/one/restore';
    await edge.send('POST', '/api/vms/default/db/snapshots', { name: 'one' });
    seconds = 2;
    const { json } = await edge.send('POST', restore);
    const task = await edge.logged(json['task'], 'never logged');
    expect(task).toMatchObject({ status: 'done', log: expect.stringContaining('shut down\nrestore') });
    expect(JSON.stringify(task['steps'])).not.toContain('parts');
    const once = { low: 2, high: 2, measured: 1 };
    const nothing = { low: 0, measured: 1 };
    // The guest was shut down before the disks were restored.
    expect(await planOf(restore)).toMatchObject({ seconds: once, steps: [{ name: 'restore', seconds: nothing }] });
  });

  test('survive a restart of the service, if they are those of tasks', async () => {
    await migrate(3);
    await stop(1);
    await edge.reopen();
    setClock();
    expect(await planOf(MIGRATE)).toMatchObject({ seconds: { low: 3, high: 3, measured: 1 } });
    expect(await planOf(STOP, undefined, FORCE)).not.toHaveProperty('seconds');
  });

  test('are those of requests that start no task, too', async () => {
    await stop(2);
    expect(await planOf(STOP, undefined, FORCE)).toMatchObject({
      seconds: { low: 2, high: 2, measured: 1 },
      steps: [{ name: 'stop', seconds: { measured: 1 } }],
    });
  });

  test('of a shutdown are the time until the guest has stopped', async () => {
    seconds = 6;
    await edge.send('POST', STOP);
    // The list shows it.
    for (let status: unknown; status !== 'Stopped';) {
      const { json } = await edge.send('GET', '/api/vms');
      status = (json as unknown as { name: string; status: string }[]).find(({ name }) => name === 'db')?.status;
    }
    expect(await planOf(STOP)).toMatchObject({ seconds: { low: 6, high: 6, measured: 1 } });
    expect(await planOf(STOP, undefined, FORCE)).not.toHaveProperty('seconds');
  });

  test('do not count what has failed', async () => {
    edge.lab.require('power').apply = async () => {
      elapsedMs += 60_000;
      throw new Error('no answer');
    };
    expect((await edge.send('POST', `${STOP}?force=true`)).status).toBeGreaterThanOrEqual(400);
    expect(await planOf(STOP, undefined, FORCE)).not.toHaveProperty('seconds');
  });

  test('are in the plan of each member of a bulk task, and of all of them', async () => {
    await stop(2);
    await stop(4);
    const refs = ['web', 'db', 'twin'].map((name) => `vm/lab/default/${name}`);
    const plan = (await planOf('/api/ext/bulk', { action: 'stop', force: true, refs, atOnce: 1 })) as BulkPlanView;
    const each = { low: 2, high: 4, measured: 2 };
    expect(plan.members.map((member) => member.seconds)).toEqual([each, each, each]);
    expect(plan.steps.map((step) => step.seconds)).toEqual([each, each, each]);
    expect(plan.seconds).toEqual({ low: 6, high: 12, measured: 2 });
    seconds = 3;
    const order = { action: 'stop', force: true, refs: refs.slice(1, 2), atOnce: 1 };
    const { json } = await edge.send('POST', '/api/ext/bulk', order);
    expect(await edge.logged(json['task'], 'never logged')).toMatchObject({ promised: each, tookSeconds: 3 });
  });

  test('are in the plan of an action on a folder', async () => {
    await stop(2);
    await edge.send('POST', '/api/folders', { path: 'prod' });
    for (const ref of ['vm/lab/default/web', 'vm/other/default/twin'])
      await edge.send('POST', '/api/folders/members', { path: 'prod', ref });
    const plan = await planOf('/api/folders/action', { path: 'prod', action: 'start' });
    // The other context is of the same kind.
    const each = { low: 2, high: 2, measured: 1 };
    expect(plan).toMatchObject({ steps: [{ seconds: each }, { seconds: each }], seconds: each });
  });
});

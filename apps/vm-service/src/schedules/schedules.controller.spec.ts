import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScheduleDetailView, ScheduledRunView, ScheduleView } from '@headgate/api-contracts';
import { ScheduledSnapshotStore } from '@headgate/domain-contracts';
import { MAX_SCHEDULES_PER_OWNER } from '@headgate/schedules';
import { TaskBoard } from '@headgate/tasks';
import { Edge } from '../testing/edge.js';
import { ScheduleClock } from './testing/schedule-clock.js';

const SCHEDULES = '/api/ext/schedules';
const ADMINS = { SVC_ADMINS: 'ann,anna' };
const ann = { 'tailscale-user-login': 'ann' };
const bob = { 'tailscale-user-login': 'bob' };
const HOUR_MS = 3_600_000;
const order = (more: object = {}) => ({
  name: 'Night',
  cron: '0 * * * *',
  timeZone: 'Europe/Berlin',
  job: { action: 'start', query: { q: 'web' } },
  ...more,
});

describe(SCHEDULES, () => {
  let edge: Edge;
  let time: ScheduleClock;

  beforeEach(async () => {
    edge = await new Edge().open(ADMINS);
    time = new ScheduleClock(edge);
  });
  afterEach(() => edge.close());

  const create = (body: object = order(), headers: Record<string, string> = ann, query = '') =>
    edge.send('POST', `${SCHEDULES}${query}`, body, headers);
  const created = async (
    body: object = order(),
    headers: Record<string, string> = ann,
  ): Promise<ScheduleDetailView> => {
    const { status, json } = await create(body, headers);
    expect([status, json.error]).toEqual([201, undefined]);
    return json as unknown as ScheduleDetailView;
  };
  const update = (id: string, body: object, headers: Record<string, string> = ann, query = '') =>
    edge.send('PATCH', `${SCHEDULES}/${id}${query}`, body, headers);
  const list = async (headers: Record<string, string> = ann): Promise<ScheduleView[]> =>
    (await edge.send('GET', SCHEDULES, undefined, headers)).json as unknown as ScheduleView[];
  const names = async (headers: Record<string, string> = ann) => (await list(headers)).map(({ name }) => name);
  const get = async (id: string): Promise<ScheduleDetailView> =>
    (await edge.send('GET', `${SCHEDULES}/${id}`, undefined, ann)).json as unknown as ScheduleDetailView;
  const runNow = (id: string, headers: Record<string, string> = ann, query = '') =>
    edge.send('POST', `${SCHEDULES}/${id}/run${query}`, undefined, headers);
  /** The last run, when it has ended. */
  const ended = async (id: string): Promise<ScheduledRunView> => {
    for (let turn = 0; turn < 1000; turn++) {
      const { lastRun } = await get(id);
      if (lastRun && lastRun.endedAt !== undefined) return lastRun;
    }
    throw new Error(`the run of ${id} did not end`);
  };

  test('are created with defaults, listed by name, changed, deleted, and survive a restart', async () => {
    const one = await created();
    expect(one).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      owner: 'ann',
      name: 'Night',
      enabled: true,
      cron: '0 * * * *',
      timeZone: 'Europe/Berlin',
      jitterSeconds: 0,
      missed: 'skip',
      job: { action: 'start', query: { q: 'web' } },
      createdAt: expect.any(String),
      changedAt: expect.any(String),
      nextRun: expect.stringMatching(/:00:00\.000Z$/),
      lastRun: null,
      runs: [],
    });
    await created(order({ name: 'Evening', enabled: false, jitterSeconds: 30, missed: 'once' }));
    await edge.reopen(ADMINS);
    expect((await list()).map(({ name, nextRun }) => [name, nextRun === null])).toEqual([
      ['Evening', true],
      ['Night', false],
    ]);
    const changed = await update(one.id, { name: 'Noon', cron: '0 12 * * *', enabled: false });
    expect([changed.status, changed.json]).toMatchObject([200, { name: 'Noon', cron: '0 12 * * *', nextRun: null }]);
    expect(await get(one.id)).toMatchObject({ name: 'Noon', job: one.job, timeZone: 'Europe/Berlin' });
    expect((await edge.send('DELETE', `${SCHEDULES}/${one.id}`, undefined, ann)).json).toEqual({ status: 'removed' });
    expect(await names()).toEqual(['Evening']);
    const { json } = await edge.send('GET', '/api/ext/journal', undefined, ann);
    const entries = json as unknown as { action: string; caller: string; ref: string }[];
    expect(entries.filter(({ ref }) => ref === `schedule/${one.id}`).map(({ action }) => action)).toEqual([
      'delete schedule',
      'change schedule',
      'create schedule',
    ]);
  });

  test('are planned without a change', async () => {
    const { id } = await created();
    const before = await get(id);
    for (const [answer, step] of [
      [await create(order({ name: 'Other' }), ann, '?dryRun=true'), 'create schedule'],
      [await update(id, { cron: '@daily' }, ann, '?dryRun=true'), 'change schedule'],
      [await edge.send('DELETE', `${SCHEDULES}/${id}?dryRun=true`, undefined, ann), 'delete schedule'],
      [await runNow(id, ann, '?dryRun=true'), 'run schedule'],
    ] as const)
      expect([answer.status, answer.json['steps']]).toMatchObject([200, [{ name: step }]]);
    expect([await names(), await get(id)]).toEqual([['Night'], before]);
    expect((await edge.send('GET', '/api/tasks', undefined, ann)).json).toEqual([]);
  });

  test('preview the next times in the time zone', async () => {
    const body = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', count: 3 };
    const { status, json } = await edge.send('POST', `${SCHEDULES}/preview`, body, bob);
    expect([status, json['times']]).toEqual([200, Array(3).fill(expect.stringMatching(/T0[01]:30:00\.000Z$/))]);
    const five = await edge.send('POST', `${SCHEDULES}/preview`, { cron: '@hourly', timeZone: 'UTC' }, ann);
    expect(five.json['times']).toHaveLength(5);
    const never = await edge.send('POST', `${SCHEDULES}/preview`, { cron: '0 0 30 2 *', timeZone: 'UTC' }, ann);
    expect([never.status, never.json.error]).toEqual([400, expect.stringContaining('never matches')]);
  });

  test.each([
    ['an expression with seconds', { cron: '* * * * * *' }, /cron: .*5 fields/],
    ['a day that does not exist', { cron: '0 0 30 2 *' }, /never matches/],
    ['an unknown time zone', { timeZone: 'Mars/Olympus' }, /timeZone: "Mars\/Olympus" is no time zone/],
    [
      'a query that would choose every VM',
      { job: { action: 'stop', query: {} } },
      /at least one of q, context and folder/,
    ],
    ['a query that can not be read', { job: { action: 'stop', query: { q: 'cpu:>>' } } }, /./],
    ['force without stop', { job: { action: 'start', force: true, query: { q: 'web' } } }, /force is only possible/],
    ['keep without snapshot', { job: { action: 'stop', keep: 2, query: { q: 'web' } } }, /keep is only possible/],
    ['keep of none', { job: { action: 'snapshot', keep: 0, query: { q: 'web' } } }, /keep/],
    ['waitReady without a start', { job: { action: 'stop', waitReady: true, query: { q: 'web' } } }, /waitReady/],
    ['a deletion', { job: { action: 'delete', query: { q: 'web' } } }, /action/],
    ['refs instead of a query', { job: { action: 'stop', refs: ['vm/lab/default/web'] } }, /./],
    ['a name of spaces', { name: '  ' }, /name/],
    ['more jitter than an hour', { jitterSeconds: 3601 }, /jitterSeconds/],
    ['an unknown policy', { missed: 'all' }, /missed/],
    ['the owner', { owner: 'bob' }, /owner/],
  ])('refuse %s', async (_title, more, message) => {
    const answer = await create(order(more));
    expect([answer.status, answer.json.code, answer.json.error]).toEqual([
      400,
      'INVALID_INPUT',
      expect.stringMatching(message),
    ]);
    const { id } = await created();
    const changed = await update(id, more);
    expect(changed.status).toBe(400);
    expect(await get(id)).toMatchObject(order());
  });

  test('have a name once per user, and at most 100', async () => {
    await created();
    expect((await create()).json.code).toBe('ALREADY_EXISTS');
    const { id } = await created(order({ name: 'Other' }));
    expect((await update(id, { name: 'Night' })).json.code).toBe('ALREADY_EXISTS');
    expect((await update(id, { name: 'Other' })).status).toBe(200);
    const anna = { 'tailscale-user-login': 'anna' };
    await created(order(), anna);
    for (let count = 2; count < MAX_SCHEDULES_PER_OWNER; count++) await created(order({ name: `Number ${count}` }));
    expect((await create(order({ name: 'One more' }))).json.code).toBe('CONFLICT');
  });

  describe('belong to their users:', () => {
    const token = async (
      actions: string[],
      scope: object,
    ): Promise<{ id: string; headers: Record<string, string> }> => {
      const { json } = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions, scope }, ann);
      return { id: String(json['id']), headers: { authorization: `Bearer ${String(json['token'])}` } };
    };

    test('others do not find them, unless they have all rights', async () => {
      const { id } = await created();
      for (const answer of [
        await edge.send('GET', `${SCHEDULES}/${id}`, undefined, bob),
        await update(id, { enabled: false }, bob),
        await edge.send('DELETE', `${SCHEDULES}/${id}`, undefined, bob),
      ])
        expect([answer.status, answer.json.code]).toEqual([404, 'SCHEDULE_NOT_FOUND']);
      expect((await runNow(id, bob)).status).toBe(403);
      expect((await create(order(), bob)).status).toBe(403);
      expect(await names(bob)).toEqual([]);
      const anna = { 'tailscale-user-login': 'anna' };
      expect((await update(id, { enabled: false }, anna)).json).toMatchObject({ owner: 'ann', enabled: false });
    });

    test('a token finds only those that it has created, and can not use the rights of its user', async () => {
      const { id } = await created();
      const { id: tokenId, headers } = await token(['power'], { folder: 'prod' });
      expect(await names(headers)).toEqual([]);
      const job = { action: 'snapshot', query: { q: 'web' } };
      for (const answer of [await update(id, { job }, headers), await runNow(id, headers)])
        expect([answer.status, answer.json.code]).toEqual([404, 'SCHEDULE_NOT_FOUND']);
      expect((await create(order({ name: 'CI', job }), headers)).json.code).toBe('NOT_PERMITTED');
      const own = await created(order({ name: 'CI', job: { action: 'stop', query: { folder: 'prod' } } }), headers);
      expect(own).toMatchObject({ owner: 'ann', token: tokenId });
      expect([await names(headers), await names()]).toEqual([['CI'], ['CI', 'Night']]);
    });

    test('the runs of a token have its rights, and fail when it was revoked', async () => {
      await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
      await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/web' }, ann);
      const { id: tokenId, headers } = await token(['power'], { folder: 'prod' });
      const { id } = await created(order({ job: { action: 'start', query: { context: 'lab' } } }), headers);
      await runNow(id, headers);
      const run = await ended(id);
      expect(run).toMatchObject({ status: 'done' });
      const { json } = await edge.send('GET', `/api/tasks/${run.task}`, undefined, ann);
      expect(json['members']).toMatchObject([{ ref: 'vm/lab/default/web' }]);
      await edge.send('DELETE', `/api/ext/tokens/${tokenId}`, undefined, ann);
      await runNow(id);
      expect(await ended(id)).toMatchObject({
        status: 'error',
        reason: expect.stringMatching(/is expired or revoked/),
      });
    });
  });

  describe('with roles', () => {
    const oscar = { 'tailscale-user-login': 'oscar' };
    const vera = { 'tailscale-user-login': 'vera' };
    const ROLES = `admins: [ann]
roles:
  - { login: vera, folder: prod, role: viewer }
  - { login: oscar, folder: prod, role: operator }
`;
    const restart = async (roles: string): Promise<void> => {
      const file = join(edge.folder, 'roles.yaml');
      writeFileSync(file, roles);
      await edge.reopen({}, ['--config', file]);
      time.follow();
    };
    const stop = { job: { action: 'stop', force: true, query: { folder: 'prod' } } };
    const move = (ref: string, method = 'POST') =>
      method === 'POST'
        ? edge.send('POST', '/api/folders/members', { path: 'prod', ref }, ann)
        : edge.send('DELETE', `/api/folders/members?ref=${ref}`, undefined, ann);
    const isRunning = (name: string): boolean =>
      edge.lab.engine.all().some((one) => one.ref.name === name && 'status' in one && one.status === 'Running');

    beforeEach(async () => {
      await restart(ROLES);
      await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
      await move('vm/lab/default/db');
    });

    test('a user may schedule what they may do, also where nothing matches yet', async () => {
      for (const [headers, body, status] of [
        [oscar, order(stop), 201],
        [oscar, order({ name: 'Snapshot', job: { action: 'snapshot', query: { folder: 'prod' } } }), 403],
        [oscar, order({ name: 'Web', job: { action: 'start', query: { q: 'name:nothing' } } }), 403],
        [oscar, order({ name: 'Empty', job: { action: 'start', query: { q: 'nothing', folder: 'prod' } } }), 201],
        [vera, order(stop), 403],
        [vera, order({ job: { action: 'start', query: { q: 'nothing', folder: 'prod' } } }), 403],
        [bob, order({ job: { action: 'start', query: { q: 'nothing' } } }), 403],
      ] as const)
        expect([body, (await create(body, headers)).status]).toEqual([body, status]);
    });

    test('a run has the rights at its time, not those at the creation of the schedule', async () => {
      const { id } = await created(order(stop), oscar);
      await move('vm/lab/default/db', 'DELETE');
      await runNow(id, oscar);
      expect([await ended(id), isRunning('db')]).toMatchObject([{ status: 'empty' }, true]);
      await move('vm/lab/default/db');
      await restart(ROLES.replace('oscar, folder: prod, role: operator', 'oscar, folder: prod, role: viewer'));
      await time.reach((await get(id)).nextRun);
      expect(await ended(id)).toMatchObject({ status: 'error', reason: expect.stringMatching(/no right to stop 1/) });
      await restart('admins: [ann]\n');
      await time.reach((await get(id)).nextRun);
      const run = await ended(id);
      expect([run, isRunning('db')]).toMatchObject([{ status: 'error', trigger: 'time' }, true]);
      await restart(ROLES);
      await time.reach((await get(id)).nextRun);
      expect([await ended(id), isRunning('db')]).toMatchObject([{ status: 'done' }, false]);
    });
  });

  describe('at its time', () => {
    test('a schedule starts a task with the ID that was recorded, and records its end', async () => {
      const { id, nextRun } = await created();
      await time.reach(nextRun);
      const run = await ended(id);
      expect(run).toMatchObject({
        planned: nextRun,
        trigger: 'time',
        status: 'done',
        task: expect.stringMatching(/^bulk-start-/),
      });
      const { json } = await edge.send('GET', `/api/tasks/${run.task}`, undefined, ann);
      expect(json).toMatchObject({
        caller: 'ann',
        status: 'done',
        bulk: { action: 'start', schedule: { id, planned: nextRun }, counts: { done: 1 } },
      });
      expect((await get(id)).runs).toHaveLength(1);
    });

    test('the error of a task is that of its run, and a query without a match is none', async () => {
      const none = await created(order({ name: 'None', job: { action: 'stop', query: { q: 'web tag:night' } } }));
      const failing = await created(order({ name: 'Failing', job: { action: 'restart', query: { q: 'web' } } }));
      await time.reach(none.nextRun);
      expect(await ended(none.id)).toMatchObject({ status: 'empty', reason: 'No instance matched.' });
      expect(await ended(failing.id)).toMatchObject({ status: 'error', reason: expect.stringMatching(/failed/) });
      expect((await get(none.id)).nextRun).not.toBeNull();
    });

    test('nothing runs of a disabled schedule, nor for the time before it is enabled', async () => {
      const { id } = await created(order({ enabled: false, missed: 'once' }));
      await time.pass(5 * HOUR_MS);
      await update(id, { enabled: true });
      await time.pass(0);
      expect((await get(id)).runs).toEqual([]);
      await time.reach((await get(id)).nextRun);
      expect(await ended(id)).toMatchObject({ trigger: 'time' });
    });

    test('a change of its name or job repeats and skips no planned time', async () => {
      const { id, nextRun } = await created();
      await update(id, { name: 'Renamed' });
      expect((await get(id)).nextRun).toBe(nextRun);
      await time.reach(nextRun);
      await ended(id);
      await update(id, { cron: '0 * * * 0-6' });
      await time.pass(0);
      expect((await get(id)).runs).toHaveLength(1);
    });

    test('requests to run it are refused while it runs, and its next time is skipped', async () => {
      const { release } = time.holdPower();
      const { id } = await created();
      expect((await runNow(id)).json).toMatchObject({ trigger: 'request', status: 'running' });
      expect((await runNow(id)).json.code).toBe('WRONG_STATE');
      await time.reach((await get(id)).nextRun);
      expect((await get(id)).runs).toMatchObject([{ status: 'skipped' }, { status: 'running' }]);
      release();
    });

    test('a run continues over a restart, and its end is recorded afterwards', async () => {
      const { begun, release } = time.holdPower();
      const { id } = await created(order({ job: { action: 'start', atOnce: 1, query: { context: 'lab' } } }));
      const { json } = await runNow(id);
      await begun;
      const board = edge.service.app.get(TaskBoard);
      const close = board.close.bind(board);
      board.close = () => {
        const closed = close();
        release();
        return closed;
      };
      await edge.reopen(ADMINS);
      expect((await get(id)).runs).toHaveLength(1);
      expect(await ended(id)).toMatchObject({ task: json['task'], status: expect.stringMatching(/^(done|error)$/) });
      const { json: task } = await edge.send('GET', `/api/tasks/${String(json['task'])}`, undefined, ann);
      expect([task['status'], task['log']]).toEqual([expect.any(String), expect.stringContaining('Resumed')]);
    });

    test('snapshots have the planned time in their names, and only those of the schedule are deleted', async () => {
      const snapshots = async (): Promise<string[]> => {
        const { json } = await edge.send('GET', '/api/vms/default/web/snapshots', undefined, ann);
        return (json as unknown as { name: string }[]).map(({ name }) => name);
      };
      await edge.send('POST', '/api/vms/default/web/snapshots', { name: 'by-hand' }, ann);
      const job = { action: 'snapshot', keep: 2, query: { q: 'web', context: 'lab' } };
      const { id } = await created(order({ job }));
      const planned = [];
      for (let count = 0; count < 4; count++) {
        const { nextRun } = await get(id);
        planned.push(nextRun!.replace(/\D/g, '').slice(0, 14));
        await time.reach(nextRun);
        expect(await ended(id)).toMatchObject({ status: 'done' });
      }
      const last = planned.slice(-2).map((digits) => expect.stringMatching(new RegExp(`^web-${digits}-[0-9a-f]{6}$`)));
      expect(await snapshots()).toEqual(['by-hand', ...last]);
      await edge.send('DELETE', `${SCHEDULES}/${id}`, undefined, ann);
      expect(await snapshots()).toEqual(['by-hand', ...last]);
      expect(edge.service.app.get(ScheduledSnapshotStore, { strict: false }).count()).toBe(0);
    });
  });
});

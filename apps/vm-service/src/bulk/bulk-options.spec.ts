import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TaskView } from '@headgate/api-contracts';
import { Clock, type InstanceRef } from '@headgate/domain-contracts';
import { jest } from '@jest/globals';
import { Edge } from '../testing/edge.js';
import { holdMethod } from '../testing/hold-method.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const TWIN = 'vm/lab/default/twin';
const MAX_WAIT_MS = 20_000;
const HOUR_MS = 3_600_000;
/** A wait for a time takes several of these. */
const LONGEST_WAIT_MS = 60_000;

describe('the options of POST /api/ext/bulk', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const start = async (body: object): Promise<string> => {
    const answer = await edge.send('POST', '/api/ext/bulk', body);
    expect([answer.status, answer.json.error]).toEqual([202, undefined]);
    return String(answer.json['task']);
  };
  const task = async (id: string): Promise<TaskView> =>
    (await edge.send('GET', `/api/tasks/${id}`)).json as unknown as TaskView;
  /** Each request lets the work continue. */
  const when = async (id: string, isMet: (found: TaskView) => boolean): Promise<TaskView> => {
    for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end;) {
      const found = await task(id);
      if (isMet(found)) return found;
      // Requests alone would leave timers no turn.
      await nextTurn();
    }
    throw new Error(`${id}: ${JSON.stringify(await task(id))}`);
  };
  const ended = (id: string): Promise<TaskView> => when(id, ({ status }) => status !== 'running');
  const later = (): string => new Date(Date.now() + HOUR_MS).toISOString();

  /** @returns lets an hour of the service pass: what a test does meanwhile may take any time */
  const hour = (): (() => void) => {
    const clock = edge.service.app.get(Clock, { strict: false });
    const [now, after] = [clock.now.bind(clock), clock.after.bind(clock)];
    const waits = new Map<() => void, () => void>();
    jest.spyOn(clock, 'after').mockImplementation((ms, callback) => {
      const cancel = after(ms, callback);
      if (ms === LONGEST_WAIT_MS) waits.set(callback, cancel);
      return cancel;
    });
    return () => {
      jest.spyOn(clock, 'now').mockImplementation(() => now() + HOUR_MS);
      for (const [callback, cancel] of waits) {
        cancel();
        callback();
      }
    };
  };

  /** The names of the VMs whose action has begun, which waits until the test lets it go on. */
  const hold = (): { held: () => unknown[]; release: () => void } => {
    const { calls, end } = holdMethod(edge.lab.require('power'), 'apply');
    return { held: () => calls.map(([ref]) => (ref as InstanceRef).name), release: end };
  };

  test('atOnce limits the members that are worked on at the same time', async () => {
    const { held, release } = hold();
    const id = await start({ action: 'start', refs: [WEB, TWIN], atOnce: 1 });
    await when(id, () => held().length > 0);
    expect([held(), (await task(id)).bulk]).toMatchObject([['web'], { atOnce: 1, counts: { running: 1, waiting: 1 } }]);
    release();
    expect((await ended(id)).status).toBe('done');
    expect(held()).toEqual(['web', 'twin']);
  });

  test('stopOnError skips the members after the first failure, and a retry does the rest', async () => {
    const id = await start({ action: 'restart', refs: [WEB, DB], atOnce: 1, stopOnError: true });
    expect(await ended(id)).toMatchObject({
      status: 'error',
      error: '1 of 2 failed, so 1 did not begin.',
      members: [
        { ref: WEB, status: 'error' },
        { ref: DB, status: 'skipped', error: '1 of 2 failed, so 1 did not begin.' },
      ],
    });
    await ended(await start({ action: 'start', refs: [WEB] }));
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    expect(await ended(String(again.json['task']))).toMatchObject({
      status: 'done',
      bulk: { atOnce: 1, stopOnError: true, counts: { done: 2 } },
    });
  });

  test('waitReady ends when the VMs run', async () => {
    const id = await start({ action: 'start', refs: [WEB, TWIN], atOnce: 1, waitReady: true });
    expect(await ended(id)).toMatchObject({ status: 'done', bulk: { waitReady: true, counts: { done: 2 } } });
    expect(edge.lab.engine.all().filter((one) => 'status' in one && one.status === 'Running')).toHaveLength(3);
  });

  test('at: waits over a restart of the service, and can be canceled meanwhile', async () => {
    const at = later();
    const { held, release } = hold();
    const id = await start({ action: 'start', refs: [WEB], at });
    const waiting = { status: 'running', waiting: `Begins at ${at}.`, cancelable: true, bulk: { at } };
    expect(await task(id)).toMatchObject(waiting);
    await edge.reopen();
    expect(await when(id, ({ log }) => log.includes('Resumed'))).toMatchObject(waiting);
    expect((await edge.send('POST', `/api/ext/bulk/${id}/cancel`)).status).toBe(200);
    const done = await ended(id);
    expect([done.error, done.bulk?.counts.skipped, held()]).toEqual([expect.stringMatching(/^Canceled/), 1, []]);
    // A retry does not wait for a time of long ago.
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    release();
    expect((await ended(String(again.json['task']))).bulk).not.toHaveProperty('at');
    expect(held()).toEqual(['web']);
  });

  test('at: begins at its time, and a member that was deleted meanwhile fails', async () => {
    const at = later();
    const pass = hour();
    const id = await start({ action: 'start', refs: [WEB, TWIN], at });
    expect((await edge.send('DELETE', '/api/vms/default/web?context=lab')).status).toBe(200);
    expect((await task(id)).waiting).toBe(`Begins at ${at}.`);
    pass();
    const done = await ended(id);
    expect(Date.parse(done.finishedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(at));
    expect(done.members).toMatchObject([
      { ref: WEB, status: 'error', error: expect.stringMatching(/web/) },
      { ref: TWIN, status: 'done' },
    ]);
  });

  test('at: does not touch another instance that has the name of a member by then', async () => {
    const order = { action: 'delete', refs: [WEB, TWIN] };
    const pass = hour();
    const id = await start({ ...order, at: later() });
    const web = edge.lab.engine.all().find(({ ref }) => ref.name === 'web')!;
    edge.lab.engine.remove(web.ref);
    edge.lab.engine.put({ ...web, uid: 'another-web' } as typeof web);
    pass();
    const replaced = {
      ref: WEB,
      uid: web.uid,
      status: 'error',
      error: expect.stringMatching(/was replaced by another/),
    };
    expect((await ended(id)).members).toMatchObject([replaced, { ref: TWIN, status: 'done' }]);
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    expect((await ended(String(again.json['task']))).members).toMatchObject([replaced]);
    expect(edge.lab.engine.all().map(({ uid }) => uid)).toContain('another-web');
  });

  test('at is only for callers with all rights, because those of others are not stored', async () => {
    await edge.close();
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, 'admins: [ann]\nroles:\n  - { login: oscar, folder: prod, role: operator }\n');
    await edge.open({}, ['--config', file]);
    const as = (login: string) => ({ 'tailscale-user-login': login });
    await edge.send('POST', '/api/folders', { path: 'prod' }, as('ann'));
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, as('ann'));
    const order = { action: 'stop', refs: [DB] };
    const statuses = [];
    for (const query of ['?dryRun=true', ''])
      for (const [login, body] of [
        ['oscar', { ...order, at: later() }],
        ['oscar', order],
        ['ann', { ...order, at: later() }],
      ] as const)
        statuses.push((await edge.send('POST', `/api/ext/bulk${query}`, body, as(login))).status);
    expect(statuses).toEqual([403, 200, 200, 403, 202, 202]);
  });

  test.each([
    ['no member at once', { atOnce: 0 }, /atOnce/],
    ['65 members at once', { atOnce: 65 }, /atOnce/],
    ['half a member at once', { atOnce: 1.5 }, /atOnce/],
    ['a word for waitReady', { waitReady: 'yes' }, /waitReady/],
    ['waitReady of an action after which nothing is ready', { action: 'stop', waitReady: true }, /waitReady/],
    ['a word for stopOnError', { stopOnError: 'yes' }, /stopOnError/],
    ['a time in the past', { at: '2020-01-01T00:00:00Z' }, /at: .* not in the future/],
    ['a local time', { at: '2099-01-01T00:00:00' }, /at: .* Z or an offset/],
    ['a time that is too far away', { at: '2099-01-01T00:00:00Z' }, /at: .* 366 days/],
    ['a number as time', { at: 4_000_000_000 }, /at/],
  ])('refuses %s, in a plan too', async (_title, fields, message) => {
    for (const query of ['', '?dryRun=true']) {
      const answer = await edge.send('POST', `/api/ext/bulk${query}`, { action: 'start', refs: [WEB], ...fields });
      expect([answer.status, answer.json.code, answer.json.error]).toEqual([
        400,
        'INVALID_INPUT',
        expect.stringMatching(message),
      ]);
    }
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
  });
});

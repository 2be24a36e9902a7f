import 'reflect-metadata';
import type { ChangeView } from '@headgate/api-contracts';
import { ADMINISTRATOR, Reservations, TaskRunner, workOn, type Caller } from '@headgate/domain-contracts';
import { buildVm, withStatus } from '@headgate/testing';
import { unreachable } from '../testing/edge.js';
import { TimedEdge } from '../testing/timed-edge.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DB = 'vm/lab/default/db';
const WEB = 'vm/lab/default/web';
const ann = { 'tailscale-user-login': 'ann' };

describe('GET /api/ext/changes', () => {
  let edge: TimedEdge;
  let first: number;

  beforeEach(async () => {
    edge = new TimedEdge();
    await edge.open({ SVC_ADMINS: 'ann' });
    await edge.untilRecording();
    first = edge.now;
    edge.pass(10 * MINUTE);
  });

  afterEach(() => edge.close());

  const iso = (time: number): string => new Date(time).toISOString();
  const get = (query = '') => edge.send('GET', `/api/ext/changes?${query}`, undefined, ann);
  const read = async (query = `from=${iso(first)}`): Promise<ChangeView[]> => {
    edge.pass(1);
    const { status, json } = await get(query);
    expect([status, json.error]).toEqual([200, undefined]);
    return json as unknown as ChangeView[];
  };
  const act = (method: string, path: string, body: object = {}) => edge.send(method, path, body, ann);
  const running = (name: string) => withStatus(buildVm({ ref: { name }, uid: `uid-${name}` }), 'Running');

  test('has the changed fields, with the caller of the action', async () => {
    await act('POST', '/api/vms/default/web/tags', { tag: 'blue', on: true });
    expect(await read()).toEqual([
      {
        time: iso(first + 10 * MINUTE),
        type: 'changed',
        ref: WEB,
        before: { tags: [] },
        after: { tags: ['blue'] },
        cause: { by: 'action', caller: 'ann', action: 'add tag blue', time: iso(first + 10 * MINUTE) },
      },
    ]);
  });

  test('says outside for a change that no action explains', async () => {
    await act('POST', '/api/vms/default/web/start');
    edge.pass(5 * MINUTE);
    // The guest stops on its own.
    const { ref } = running('web');
    edge.lab.engine.setRunning(ref, false);
    const changes = await read();
    expect(changes.map(({ after, cause }) => [(after as { status: string }).status, cause?.by])).toEqual([
      ['Running', 'action'],
      ['Stopped', 'outside'],
    ]);
  });

  test('does not take a tag, a console or a denied request for the cause of a crash', async () => {
    await act('POST', '/api/vms/default/db/tags', { tag: 'blue', on: true });
    await edge.send('POST', '/api/vms/default/db/stop', {});
    await edge.send('GET', '/api/vms/default/db/export', undefined, ann);
    edge.pass(SECOND);
    edge.lab.engine.setRunning(running('db').ref, false);
    const [, crash] = await read();
    expect(crash).toMatchObject({ ref: DB, after: { status: 'Stopped' }, cause: { by: 'outside' } });
  });

  test('explains the folder of all members by the action on the folder', async () => {
    await act('POST', '/api/folders', { path: 'prod/web' });
    await act('POST', '/api/folders/members', { path: 'prod/web', ref: WEB });
    edge.pass(MINUTE);
    await act('POST', '/api/folders/move', { from: 'prod', to: 'stage' });
    edge.pass(MINUTE);
    await edge.send('DELETE', '/api/folders?path=stage', undefined, ann);
    const changes = await read();
    expect(changes.map(({ before, after, cause }) => [before, after, cause?.by, cause?.action])).toEqual([
      [{}, { folder: 'prod/web' }, 'action', 'add to folder prod/web'],
      [{ folder: 'prod/web' }, { folder: 'stage/web' }, 'action', 'move folder'],
      [{ folder: 'stage/web' }, {}, 'action', 'remove folder'],
    ]);
  });

  test('has new and deleted instances, and those from outside', async () => {
    await act('DELETE', '/api/vms/default/web');
    edge.pass(5 * MINUTE);
    const createdAt = iso(edge.now);
    edge.lab.engine.put(buildVm({ ref: { name: 'new' }, uid: 'new', createdAt }));
    edge.lab.engine.put(buildVm({ ref: { name: 'old' }, uid: 'old', createdAt: iso(first - MINUTE) }));
    const changes = await read();
    expect(changes).toMatchObject([
      { type: 'removed', ref: WEB, before: { name: 'web' }, cause: { by: 'action', action: 'delete', caller: 'ann' } },
      { type: 'added', ref: 'vm/lab/default/new', after: { name: 'new' }, cause: { by: 'outside' } },
      { type: 'added', ref: 'vm/lab/default/old', cause: { by: 'unknown' } },
    ]);
    expect(changes[0]).not.toHaveProperty('after');
    expect(changes[1]).not.toHaveProperty('before');
  });

  test('names the task that held the instance, and its caller', async () => {
    const { app } = edge.service;
    const { ref } = running('db');
    const gate = Promise.withResolvers<void>();
    const tasks = app.get(TaskRunner, { strict: false });
    const reservation = await app.get(Reservations, { strict: false }).acquire(workOn('snapshot', ref));
    const caller = { login: 'eve', grant: ADMINISTRATOR } as Caller;
    const task = await tasks.start('snapshot', ref, caller, () => gate.promise, reservation);
    edge.pass(SECOND);
    edge.lab.engine.setRunning(ref, false);
    gate.resolve();
    await tasks.whenEnded(task);
    const busy = { task, action: 'snapshot' };
    const cause = { by: 'task', task, caller: 'eve', action: 'snapshot' };
    expect((await read()).map((change) => [change.before, change.after, change.cause])).toEqual([
      [{}, { busy }, cause],
      [expect.objectContaining({ status: 'Running' }), expect.objectContaining({ status: 'Stopped' }), cause],
      [{ busy }, {}, cause],
    ]);
  });

  test('has lost contexts as their cause, and the gap of a stopped service', async () => {
    edge.other.engine.disconnect(unreachable);
    edge.pass(MINUTE);
    edge.other.engine.reconnect();
    edge.pass(MINUTE);
    const stopped = edge.now;
    await edge.service.close();
    edge.lab.engine.remove(running('web').ref);
    edge.pass(MINUTE);
    await edge.open({ SVC_ADMINS: 'ann' });
    await edge.untilRecording();
    const ref = 'vm/other/default/twin';
    expect(await read()).toMatchObject([
      { ref, before: {}, after: { stale: true }, cause: { by: 'context' } },
      { ref, before: { stale: true }, after: {}, cause: { by: 'context' } },
      { type: 'gap', since: iso(stopped), time: iso(stopped + MINUTE) },
      { type: 'removed', ref: WEB, inGap: true, cause: { by: 'gap' } },
    ]);
  });

  test('is read in pages, and chosen by instance, context and time', async () => {
    for (let index = 0; index < 5; index++) {
      edge.pass(SECOND);
      await act('POST', '/api/vms/default/web/tags', { tag: `t${index}`, on: true });
      await act('POST', '/api/vms/default/db/tags', { tag: `t${index}`, on: true });
    }
    await act('POST', '/api/vms/default/twin/start?context=other');
    const range = `from=${iso(first)}&to=${iso(edge.now)}`;
    edge.pass(MINUTE);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get(`${range}&limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...(page.json as unknown as ChangeView[]).map(({ ref }) => ref!));
      cursor = String(page.headers['svc-cursor'] ?? '');
      await act('POST', '/api/vms/default/web/tags', { tag: `later${seen.length}`, on: true });
    } while (cursor);
    expect(seen).toEqual([WEB, DB, WEB, DB, WEB, DB, WEB, DB]);
    const count = async (query: string) => (await read(`from=${iso(first)}&${query}`)).length;
    expect(await count(`ref=${DB}`)).toBe(5);
    expect(await count('context=other')).toBe(1);
    expect(await count('ref=vm/lab/default/none')).toBe(0);
    expect((await read('')).length).toBeGreaterThan(10);
  });

  test.each([
    ['from=yesterday', 'from must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    ['from=2999-01-01T00:00:00Z', 'from: the time is in the future; use one until now.'],
    ['to=2999-01-01T00:00:00Z', 'to: the time is in the future; use one until now.'],
    ['from=2026-01-01T00:05:00Z&to=2026-01-01T00:05:00Z', 'from must be before to.'],
    ['to=2025-12-31T00:00:00Z', 'to: the history of the fleet begins at 2026-01-01T00:00:00.000Z; use a later time.'],
    ['limit=1001', 'limit must be a number from 1 to 1000.'],
    ['cursor=1', 'cursor must be the Svc-Cursor of the previous page.'],
    ['ref=web', expect.stringMatching(/^ref must have the form vm/)],
  ])('refuses ?%s', async (query, message) => {
    const { status, json } = await get(query);
    expect([status, json.error]).toEqual([400, message]);
  });

  test('begins with a gap before the first record', async () => {
    expect(await read(`from=${iso(first - MINUTE)}`)).toEqual([
      { time: iso(first), type: 'gap', since: iso(first - MINUTE) },
    ]);
  });
});

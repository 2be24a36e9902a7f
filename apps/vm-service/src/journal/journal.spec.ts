import 'reflect-metadata';
import { once } from 'node:events';
import { FleetAuditLog, type JournalEntry } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { Audit, AuditLog, type AuditEntry, type InstanceDirectory } from '@headgate/domain-contracts';
import { Edge, refusalOf } from '../testing/edge.js';
import { RequestRecorder } from './request-recorder.js';

const ann = { 'tailscale-user-login': 'ann' };
const eve = { 'tailscale-user-login': 'eve' };
const DB = 'vm/lab/default/db';
const PASSWORD = 'correct-horse-battery';

describe('GET /api/ext/journal', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open({ SVC_ADMINS: 'ann' });
    await edge.send('GET', '/api/vms');
  });

  afterEach(() => edge.close());

  const read = async (query = ''): Promise<JournalEntry[]> => {
    const { status, json } = await edge.send('GET', `/api/ext/journal${query}`, undefined, ann);
    expect([status, json.error]).toEqual([200, undefined]);
    return json as unknown as JournalEntry[];
  };

  test('lists who did what, from where, with which outcome, newest first', async () => {
    await edge.send('POST', '/api/vms/default/db/stop', {}, { ...ann, 'x-forwarded-for': '198.51.100.7' });
    await edge.send('POST', '/api/vms/default/db/pause', {}, ann);
    await edge.send('DELETE', '/api/vms/default/db', {}, eve);
    expect(await read()).toEqual([
      {
        number: expect.any(Number),
        time: expect.any(String),
        caller: 'eve',
        token: '',
        address: '127.0.0.1',
        kind: 'request',
        action: 'DELETE /api/vms/:ns/:name',
        route: 'DELETE /api/vms/:ns/:name',
        ref: DB,
        outcome: 'denied',
        status: 403,
        code: 'NOT_PERMITTED',
        message: 'Changing anything is for administrators; eve is not one.',
      },
      expect.objectContaining({
        caller: 'ann',
        kind: 'action',
        action: 'pause',
        ref: DB,
        outcome: 'error',
        status: 409,
        code: 'WRONG_STATE',
      }),
      expect.objectContaining({ caller: 'ann', action: 'stop', ref: DB, outcome: 'ok', address: '198.51.100.7' }),
    ]);
  });

  test('has an entry for each change, whether its use case records one or not, and none for plans and reads', async () => {
    const before = (await read()).length;
    await edge.send('POST', '/api/vms/default/db/stop?dryRun=true', {}, ann);
    await edge.send('GET', '/api/vms/default/db', undefined, ann);
    await edge.send('GET', '/api/nothing', undefined, ann);
    expect((await read()).length).toBe(before);
    await edge.send('POST', '/api/vms', { name: 'UPPER' }, ann);
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    const entries = await read();
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          route: 'POST /api/vms',
          outcome: 'error',
          status: 400,
          code: 'INVALID_NAME',
          message: '',
        }),
        expect.objectContaining({ kind: 'request', route: 'POST /api/ext/bulk', outcome: 'ok', status: 202 }),
      ]),
    );
  });

  test('has no entry for a preview of a move, unless it was denied', async () => {
    const to = { toBackend: 'memory', toContext: 'other' };
    const before = (await read()).length;
    const previewed = async (path: string, body: object, headers = ann) =>
      (await edge.send('POST', path, { ...to, ...body }, headers)).status;
    expect(await previewed('/api/move/preflight', { ref: DB })).toBe(200);
    expect(await previewed('/api/move/preflight', { refs: [DB] })).toBe(200);
    expect(await previewed('/api/move/preflight', {})).toBe(400);
    expect(await previewed('/api/move?dryRun=true', { ref: DB })).toBe(200);
    expect((await read()).length).toBe(before);
    expect(await previewed('/api/move/preflight', { ref: DB }, eve)).toBe(403);
    expect((await read())[0]).toMatchObject({ route: 'POST /api/move/preflight', outcome: 'denied', caller: 'eve' });
  });

  test('records consoles and exports, opened and denied', async () => {
    const socket = edge.socket('/api/tty/default/db', eve);
    await once(socket, 'open');
    socket.close();
    expect(await refusalOf(edge.socket('/api/tty/default/db', { ...ann, origin: 'http://evil.example.org' }))).toBe(
      403,
    );
    await edge.send('GET', '/api/vms/default/web/export', undefined, eve);
    expect(await read()).toMatchObject([
      { route: 'GET /api/vms/:ns/:name/export', caller: 'eve', outcome: 'denied' },
      { route: 'GET /api/tty/:ns/:name', outcome: 'denied', code: 'FOREIGN_ORIGIN' },
      { action: 'open console', caller: 'eve', ref: DB, outcome: 'ok', message: 'view only', status: 101 },
    ]);
  });

  test('contains no secret of a request', async () => {
    const ref = DB;
    await edge.send('POST', '/api/ext/guest/password', { ref, user: 'root', password: PASSWORD }, ann);
    await edge.send('POST', '/api/ext/guest/password', { ref, user: 'root', password: PASSWORD }, eve);
    await edge.send('POST', '/api/ext/guest/password', { ref, user: 'no user', password: PASSWORD }, ann);
    await edge.send(
      'POST',
      `/api/vms?secret=${PASSWORD}`,
      { name: 'new', image: 'tiny', cloudInit: PASSWORD, nope: PASSWORD },
      ann,
    );
    await edge.send('POST', '/api/vms/default/db/stop', {}, { authorization: `Bearer hgt_${PASSWORD}` });
    await edge.send('POST', `/api/vms/default/db/${PASSWORD}`, {}, eve);
    const entries = await read();
    expect(entries.length).toBeGreaterThan(4);
    expect(JSON.stringify(entries)).not.toContain(PASSWORD);
  });

  test('is for administrators', async () => {
    expect((await edge.send('GET', '/api/ext/journal', undefined, eve)).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/journal')).status).toBe(403);
  });

  test('is read in pages', async () => {
    for (let index = 0; index < 7; index++)
      await edge.send('POST', '/api/vms/default/db/tags', { tag: `t${index}`, on: true }, ann);
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const page = await edge.send(
        'GET',
        `/api/ext/journal?limit=3${cursor === undefined ? '' : `&cursor=${String(cursor)}`}`,
        undefined,
        ann,
      );
      seen.push(...(page.json as unknown as JournalEntry[]).map(({ action }) => action));
      // What happens meanwhile does not shift the pages.
      await edge.send('POST', '/api/vms/default/web/tags', { tag: 'later', on: true }, ann);
      cursor = page.headers['svc-cursor'];
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: 7 }, (_none, index) => `add tag t${6 - index}`));
  });

  test('is filtered by object, caller, outcome and time', async () => {
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'a', on: true }, ann);
    await edge.send('POST', '/api/vms/default/web/tags', { tag: 'a', on: true }, ann);
    await edge.send('POST', '/api/vms/default/web/tags', { tag: 'b', on: true }, eve);
    const count = async (query: string): Promise<number> => (await read(query)).length;
    expect(await count(`?ref=${DB}`)).toBe(1);
    expect(await count('?caller=eve')).toBe(1);
    expect(await count('?outcome=denied')).toBe(1);
    expect(await count('?caller=ann&outcome=ok&ref=vm/lab/default/web')).toBe(1);
    expect(await count('?token=abcdefghij')).toBe(0);
    expect(await count('?since=2999-01-01')).toBe(0);
    expect(await count('?until=2020-01-01T00:00:00Z')).toBe(0);
    expect(await count('?since=2020-01-01&until=2999-01-01')).toBe(3);
  });

  test.each([
    'limit=0',
    'limit=1001',
    'limit=many',
    'cursor=-1',
    'cursor=a',
    'since=yesterday',
    'until=1',
    'outcome=good',
  ])('refuses ?%s', async (query) => {
    expect((await edge.send('GET', `/api/ext/journal?${query}`, undefined, ann)).status).toBe(400);
  });

  test('survives a restart', async () => {
    await edge.send('DELETE', '/api/vms/default/db', {}, eve);
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect(edge.service.app.get(FleetAuditLog).find({ limit: 10 })).toMatchObject([
      { caller: 'eve', outcome: 'denied' },
    ]);
  });
});

describe('a flood of refused requests', () => {
  test('fills no disk: it is counted, and the count is recorded', () => {
    const entries: AuditEntry[] = [];
    class Recorded extends AuditLog {
      override append(entry: AuditEntry): void {
        entries.push(entry);
      }
      override recent(): readonly AuditEntry[] {
        return entries;
      }
    }
    const clock = new FixedClock();
    const recorder = new RequestRecorder(new Audit(new Recorded(), clock), clock, {} as InstanceDirectory);
    const refuse = (): void =>
      recorder.record({
        method: 'POST',
        route: '/api/vms',
        status: 403,
        address: '192.0.2.1',
        code: 'NOT_PERMITTED',
        isDryRun: false,
      });
    for (let index = 0; index < 1000; index++) refuse();
    expect(entries).toHaveLength(60);
    clock.advance(60_000);
    refuse();
    expect(entries.slice(60)).toMatchObject([
      { action: 'refused requests', message: '940 more requests were refused and are not listed.' },
      { action: 'POST /api/vms', outcome: 'denied', address: '192.0.2.1' },
    ]);
  });
});

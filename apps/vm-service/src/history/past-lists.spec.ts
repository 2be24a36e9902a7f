import 'reflect-metadata';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CheckView, VmView } from '@headgate/api-contracts';
import { buildVm, withStatus } from '@headgate/testing';
import { unreachable } from '../testing/edge.js';
import { TimedEdge } from '../testing/timed-edge.js';

const MINUTE = 60_000;
const DB = 'vm/lab/default/db';
const WEB = 'vm/lab/default/web';
const as = (login: string) => ({ 'tailscale-user-login': login });
const ann = as('ann');

describe('?at= of the lists', () => {
  let edge: TimedEdge;
  let first: number;

  beforeEach(async () => {
    edge = new TimedEdge();
    await edge.open();
    await edge.untilRecording();
    first = edge.now;
    edge.pass(MINUTE);
  });

  afterEach(() => edge.close());

  const names = (entries: unknown): string[] => (entries as VmView[]).map(({ name }) => name);
  const namesAt = async (time: number, query = '', headers = {}): Promise<string[]> =>
    names((await edge.at(time, query, headers)).json);

  test('answers the list as it was, byte for byte, and changes no other answer', async () => {
    const before = await edge.send('GET', '/api/vms');
    await edge.send('POST', '/api/vms/default/web/start');
    await edge.send('POST', '/api/folders', { path: 'prod' });
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: WEB });
    const after = await edge.send('GET', '/api/vms');
    edge.pass(MINUTE);
    expect(after.body).not.toBe(before.body);
    expect((await edge.at(first + MINUTE - 1)).body).toBe(before.body);
    const now = await edge.at(edge.now);
    expect(now.body).toBe(after.body);
    for (const header of ['etag', 'svc-gap', 'svc-partial']) expect(now.headers[header]).toBeUndefined();
    expect((await edge.send('GET', '/api/vms')).headers['etag']).toBe(after.headers['etag']);
  });

  test('has containers, and the query, the order and the pages of the list', async () => {
    await edge.send('DELETE', '/api/vms/default/db');
    edge.pass(MINUTE);
    const then = new Date(first).toISOString();
    expect(names((await edge.send('GET', `/api/cts?at=${then}`)).json)).toEqual(['box']);
    expect(await namesAt(first, '&context=other')).toEqual(['twin']);
    expect(await namesAt(first, '&q=status:running')).toEqual(['db']);
    expect(await namesAt(first, '&sort=-name')).toEqual(['web', 'twin', 'twin', 'db']);
    const page = await edge.at(first, '&limit=3');
    expect(names(page.json)).toEqual(['db', 'twin', 'web']);
    const cursor = String(page.headers['svc-cursor']);
    expect(await namesAt(first, `&limit=3&cursor=${cursor}`)).toEqual(['twin']);
    expect(await namesAt(edge.now, '&context=lab')).toEqual(['twin', 'web']);
    expect((await edge.at(first, '&q=status:')).status).toBe(400);
  });

  test('is compressed for a client that accepts gzip', async () => {
    const { headers, rawPayload } = await edge.service.app.inject({
      url: `/api/vms?at=${new Date(first).toISOString()}`,
      headers: { host: 'localhost', 'accept-encoding': 'gzip' },
    });
    expect(headers['content-encoding']).toBe('gzip');
    expect(names(JSON.parse(gunzipSync(rawPayload).toString()))).toEqual(['db', 'twin', 'web', 'twin']);
  });

  test('takes any time zone', async () => {
    const { status, json } = await edge.send('GET', '/api/vms?at=2026-01-01T02:00:30.5%2B02:00');
    expect([status, names(json).length]).toEqual([200, 4]);
  });

  test.each([
    ['2026-01-01', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    ['2026-01-01T00:00:00', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    ['2026-02-30T00:00:00Z', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    ['2026-01-01T24:30:00Z', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    ['1767225600000', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    ['', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
    [
      '2026-01-01T00:01:00.001Z',
      'at: the time is in the future; use one until now, which is 2026-01-01T00:01:00.000Z.',
    ],
    ['2025-12-31T23:59:59Z', 'at: the history of the fleet begins at 2026-01-01T00:00:00.000Z; use a later time.'],
    ['2026-01-01T00:00:30Z&usage=true', 'usage: the history of the list has no usage; leave usage or at out.'],
    ['2026-01-01T00:00:30Z&at=2026-01-01T00:00:31Z', 'at must be a time of RFC 3339 such as 2026-01-31T12:00:00Z.'],
  ])('refuses %s', async (at, message) => {
    const { status, json } = await edge.send('GET', `/api/vms?at=${at}`);
    expect([status, json.error]).toEqual([400, message]);
  });

  test('refuses an event stream', async () => {
    const { status, json } = await edge.at(first, '', { accept: 'text/event-stream' });
    expect([status, json.error]).toEqual([400, 'at: an event stream begins with the list of now; leave at out.']);
  });

  test('has lost contexts as the list had them, and answers while none can be reached', async () => {
    edge.lab.engine.disconnect(unreachable);
    edge.other.engine.disconnect(unreachable);
    edge.pass(MINUTE);
    expect((await edge.send('GET', '/api/vms')).status).toBe(503);
    const lost = await edge.at(edge.now);
    expect([lost.status, lost.headers['svc-partial'], lost.headers['svc-gap']]).toEqual([200, 'true', undefined]);
    expect((lost.json as unknown as VmView[]).every(({ stale }) => stale)).toBe(true);
    const before = await edge.at(first);
    expect([before.headers['svc-partial'], (before.json as unknown as VmView[])[0]]).toEqual([
      undefined,
      expect.not.objectContaining({ stale: true }),
    ]);
  });

  test('says that nothing was recorded while the service was stopped', async () => {
    const stopped = edge.now;
    await edge.service.close();
    edge.pass(MINUTE);
    await edge.open();
    await edge.untilRecording();
    const inside = await edge.at(stopped + 1);
    expect([inside.status, inside.headers['svc-partial'], inside.headers['svc-gap']]).toEqual([
      200,
      'true',
      '2026-01-01T00:01:00.000Z/2026-01-01T00:02:00.000Z',
    ]);
    expect((inside.json as unknown as VmView[]).every(({ stale }) => stale)).toBe(true);
    expect((await edge.at(stopped)).headers['svc-gap']).toBeUndefined();
    expect((await edge.at(edge.now)).headers['svc-gap']).toBeUndefined();
  });

  test('survives that the files are gone: requests are answered, and the doctor reports it', async () => {
    const folder = join(edge.folder, 'fleet-history');
    const check = async () =>
      ((await edge.send('GET', '/api/doctor')).json as unknown as CheckView[]).find(
        ({ name }) => name === 'fleet-history',
      );
    expect(await check()).toMatchObject({ status: 'ok', context: 'service/history' });
    await edge.service.close();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file of the operator');
    await edge.open();
    while (edge.history.status.state === 'starting') await new Promise((resolve) => setImmediate(resolve));
    expect((await edge.send('POST', '/api/vms/default/web/start')).status).toBe(200);
    expect((await edge.send('GET', '/api/vms')).status).toBe(200);
    expect(await check()).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^The history of the fleet has not been recorded since .*EEXIST/),
    });
    expect((await edge.at(edge.now)).status).toBe(400);
  });

  test('is 501 when it is switched off, and then nothing is written', async () => {
    const config = join(edge.folder, 'off.yaml');
    writeFileSync(config, 'history: { record: false }');
    await edge.service.close();
    rmSync(join(edge.folder, 'fleet-history'), { recursive: true });
    await edge.open({}, ['--config', config]);
    for (const path of ['/api/vms?at=2026-01-01T00:00:00Z', '/api/cts?at=2026-01-01T00:00:00Z', '/api/ext/changes']) {
      const { status, json } = await edge.send('GET', path);
      expect([status, json.error]).toEqual([
        501,
        'The history of the fleet is switched off in the configuration: history.record is false.',
      ]);
    }
    expect((await edge.send('GET', '/api/vms')).status).toBe(200);
    expect(existsSync(join(edge.folder, 'fleet-history'))).toBe(false);
  });

  test('keeps its files from other users', () => {
    const folder = join(edge.folder, 'fleet-history');
    const paths = [folder, ...readdirSync(folder).map((name) => join(folder, name))];
    expect(paths).toHaveLength(2);
    for (const path of paths) expect(statSync(path).mode & 0o077).toBe(0);
  });
});

describe('?at= for callers who may not read everything', () => {
  let edge: TimedEdge;
  let first: number;

  beforeEach(async () => {
    edge = new TimedEdge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(
      file,
      'admins: [ann]\nroles:\n  - { login: vera, folder: prod, role: viewer }\n  - { login: rita, folder: /, role: viewer }\n',
    );
    await edge.open({}, ['--config', file]);
    await edge.untilRecording();
    for (const path of ['prod', 'lab']) await edge.send('POST', '/api/folders', { path }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
    first = edge.now;
    edge.pass(MINUTE);
  });

  afterEach(() => edge.close());

  const seen = async (time: number, login = 'vera'): Promise<string[]> =>
    ((await edge.at(time, '', as(login))).json as unknown as VmView[]).map(({ name }) => name);
  const changes = async (login = 'vera'): Promise<string[]> => {
    const { status, json } = await edge.send('GET', '/api/ext/changes', undefined, as(login));
    expect(status).toBe(200);
    return (json as unknown as { type: string; ref?: string }[]).flatMap(({ type, ref }) =>
      ref === undefined ? [] : [`${type} ${ref}`],
    );
  };

  test('has the instances that they may read now and might have read then', async () => {
    expect([await seen(first), await seen(first, 'rita'), await seen(first, 'bob')]).toEqual([
      ['db'],
      ['db', 'twin', 'web', 'twin'],
      [],
    ]);
  });

  test('has none that left their folder, as it was in it', async () => {
    await edge.send('POST', '/api/folders/members', { path: 'lab', ref: DB }, ann);
    edge.pass(MINUTE);
    expect([await seen(first), await seen(edge.now)]).toEqual([[], []]);
    expect(await changes()).toEqual([]);
  });

  test('has none that came into their folder, as it was before', async () => {
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: WEB }, ann);
    await edge.send('POST', '/api/vms/default/web/tags', { tag: 'a', on: true }, ann);
    edge.pass(MINUTE);
    expect([await seen(first), await seen(edge.now)]).toEqual([['db'], ['db', 'web']]);
    // The change of the folder has the entry before it.
    expect(await changes()).toEqual([`changed ${WEB}`]);
  });

  test('has none that were deleted, or replaced by another one of the name', async () => {
    await edge.send('DELETE', '/api/vms/default/db', {}, ann);
    edge.pass(MINUTE);
    expect([await seen(first), await seen(first, 'rita')]).toEqual([[], ['db', 'twin', 'web', 'twin']]);
    edge.lab.engine.put(withStatus(buildVm({ ref: { name: 'db' }, uid: 'another' }), 'Running'));
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
    edge.pass(MINUTE);
    expect([await seen(first), await seen(edge.now)]).toEqual([[], ['db']]);
    expect(await changes()).toEqual([]);
    expect(await changes('rita')).toContain(`removed ${DB}`);
  });

  test('an API token has the same bounds', async () => {
    const created = await edge.send(
      'POST',
      '/api/ext/tokens',
      { name: 'ci', actions: ['read'], scope: { folder: 'prod' } },
      ann,
    );
    const bearer = { authorization: `Bearer ${String(created.json['token'])}` };
    const { json } = await edge.at(first, '', bearer);
    expect((json as unknown as VmView[]).map(({ name }) => name)).toEqual(['db']);
  });
});

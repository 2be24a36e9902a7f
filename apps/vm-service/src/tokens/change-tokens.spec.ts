import 'reflect-metadata';
import { once } from 'node:events';
import { FleetAuditLog } from '@headgate/domain-contracts';
import { Edge, type Reply } from '../testing/edge.js';
import { openStream } from '../testing/open-stream.js';

const ADMINS = { SVC_ADMINS: 'ann,bob' };
const ann = { 'tailscale-user-login': 'ann' };
const bob = { 'tailscale-user-login': 'bob' };
const DAY_MS = 24 * 60 * 60_000;

interface Created {
  id: string;
  token: string;
  expiresAt: string;
}

describe('an API token that exists', () => {
  let edge: Edge;
  let token: Created;
  let other: Created;

  beforeEach(async () => {
    edge = await new Edge().open(ADMINS);
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/db' }, ann);
    token = await create('ci');
    other = await create('other');
  });
  afterEach(() => edge.close());

  const create = async (name: string): Promise<Created> => {
    const body = { name, actions: ['power'], scope: { folder: 'prod' }, days: 10 };
    return (await edge.send('POST', '/api/ext/tokens', body, ann)).json as unknown as Created;
  };
  const bearer = ({ token: text }: Pick<Created, 'token'>) => ({ authorization: `Bearer ${text}` });
  const change = (body: object, query = '', id = token.id): Promise<Reply> =>
    edge.send('PATCH', `/api/ext/tokens/${id}${query}`, body, ann);
  const rotate = (body: object = {}, query = '', caller = ann, id = token.id): Promise<Reply> =>
    edge.send('POST', `/api/ext/tokens/${id}/rotate${query}`, body, caller);
  const list = async (): Promise<Record<string, unknown>[]> =>
    (await edge.send('GET', '/api/ext/tokens', undefined, ann)).json as unknown as Record<string, unknown>[];
  const start = async (name: string, headers: Record<string, string>): Promise<number> =>
    (await edge.send('POST', `/api/vms/default/${name}/start?dryRun=true`, {}, headers)).status;
  const seenBy = async (headers: Record<string, string>): Promise<string[]> =>
    ((await edge.send('GET', '/api/vms', undefined, headers)).json as unknown as { name: string }[]).map(
      ({ name }) => name,
    );
  const entryOf = (action: string) =>
    edge.service.app
      .get(FleetAuditLog)
      .find({ limit: 20 })
      .find((entry) => entry.action === action);

  test('gets other rights with the same secret, and the others keep theirs', async () => {
    expect([await seenBy(bearer(token)), await start('web', bearer(token))]).toEqual([['db'], 404]);
    const changed = await change({ scope: {}, actions: ['power', 'read'] });
    expect(changed.json).toMatchObject({ id: token.id, name: 'ci', actions: ['read', 'power'], scope: {} });
    expect(changed.body).not.toContain('hash');
    expect([(await seenBy(bearer(token))).length, await start('web', bearer(token))]).toEqual([4, 200]);
    await change({ actions: ['read'] });
    expect(await start('web', bearer(token))).toBe(403);
    expect(await seenBy(bearer(other))).toEqual(['db']);
    expect(entryOf('change token')).toMatchObject({ ref: 'token/ci', caller: 'ann', outcome: 'ok' });
  });

  test('is valid for as long as a change says, and keeps its rights then', async () => {
    const before = Date.now();
    const { json } = await change({ days: 30 });
    expect(json).toMatchObject({ actions: ['power'], scope: { folder: 'prod' } });
    expect(Date.parse(String(json['expiresAt']))).toBeGreaterThanOrEqual(before + 30 * DAY_MS);
    expect((await list()).find(({ id }) => id === other.id)?.['expiresAt']).toBe(other.expiresAt);
  });

  test('gets a new secret, keeps its ID, and the former secret is refused at once', async () => {
    const rotated = (await rotate()).json as unknown as Created;
    expect([rotated.id, rotated.expiresAt]).toEqual([token.id, token.expiresAt]);
    expect(rotated.token).not.toBe(token.token);
    expect(await start('db', bearer(rotated))).toBe(200);
    expect(await start('db', bearer(token))).toBe(403);
    expect(await start('db', bearer(other))).toBe(200);
    expect(entryOf('rotate token')).toMatchObject({ ref: 'token/ci', caller: 'ann', outcome: 'ok' });
    await edge.reopen(ADMINS);
    expect([await start('db', bearer(rotated)), await start('db', bearer(token))]).toEqual([200, 403]);
  });

  test('acts for the administrator who has its new secret', async () => {
    const rotated = (await rotate({ days: 5 }, '', bob)).json as unknown as Created;
    expect((await edge.send('GET', '/api/whoami', undefined, bearer(rotated))).json['login']).toBe('bob');
    expect(Date.parse(rotated.expiresAt)).toBeLessThan(Date.parse(token.expiresAt));
  });

  test.each([
    ['rotated', () => rotate()],
    ['changed', () => change({ actions: ['read'] })],
  ])('closes its streams and consoles when it is %s, and no others', async (_how, act) => {
    // A console needs the action.
    for (const { id } of [token, other]) await change({ actions: ['console', 'power'] }, '', id);
    const stream = await openStream(edge, bearer(token));
    const kept = await openStream(edge, bearer(other));
    await kept.until('event: snapshot');
    const console = edge.socket('/api/tty/default/db', bearer(token));
    await once(console, 'open');
    const closed = once(console, 'close');
    expect((await act()).status).toBe(200);
    expect((await closed)[0]).toBe(1008);
    await stream.ended;
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'later', on: true }, ann);
    await kept.until('"later"');
    kept.close();
  });

  test('is rotated by one of two requests at the same time, and the secret of that one is valid', async () => {
    const replies = await Promise.all([rotate(), rotate()]);
    const winner = replies.find(({ status }) => status === 200);
    const loser = replies.find(({ status }) => status !== 200);
    // Both may have run one after the other: then the later secret is the valid one.
    if (loser) expect([loser.status, loser.json.code]).toEqual([409, 'CONFLICT']);
    const valid = await Promise.all(replies.map(({ json }) => start('db', bearer(json as unknown as Created))));
    expect(valid.filter((status) => status === 200)).toHaveLength(1);
    expect(winner).toBeDefined();
  });

  test('is not brought back by a change or a rotation after it was revoked', async () => {
    await edge.send('DELETE', `/api/ext/tokens/${token.id}`, undefined, ann);
    for (const reply of [await rotate(), await change({ days: 3 })])
      expect([reply.status, reply.json.code]).toEqual([404, 'TOKEN_NOT_FOUND']);
    expect((await list()).map(({ id }) => id)).toEqual([other.id]);
  });

  test('is planned without any change', async () => {
    const before = await list();
    const plans = [await rotate({ days: 3 }, '?dryRun=true'), await change({ days: 3, scope: {} }, '?dryRun=true')];
    expect(plans.map(({ status, json }) => [status, (json['steps'] as { detail: string }[])[0]?.detail])).toEqual([
      [200, 'ci gets a new secret, valid for 3 days; the former one is refused'],
      [200, 'ci, for all instances, valid for 3 days'],
    ]);
    expect(await list()).toEqual(before);
    expect(await start('db', bearer(token))).toBe(200);
  });

  test.each([
    [{}],
    [{ actions: [] }],
    [{ actions: ['manage'] }],
    [{ actions: null }],
    [{ scope: null }],
    [{ scope: { owner: 'ann' } }],
    [{ days: 0 }],
    [{ days: 367 }],
    [{ name: 'new' }],
    [{ creator: 'zoe' }],
    [{ hash: 'a' }],
  ])('refuses the change %j', async (body) => {
    const before = await list();
    const { status, json } = await change(body);
    expect([status, typeof json.error]).toEqual([400, 'string']);
    expect(await list()).toEqual(before);
  });

  test('refuses a rotation with wrong days, and of an ID that is none', async () => {
    expect((await rotate({ days: 367 })).status).toBe(400);
    expect((await rotate({}, '', ann, 'zzzzzzzzzz')).status).toBe(404);
    expect((await rotate({}, '', ann, 'short')).status).toBe(400);
  });
});

import 'reflect-metadata';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { FleetAuditLog } from '@headgate/domain-contracts';
import { pino } from 'pino';
import { Edge, type Reply } from '../testing/edge.js';
import { openStream } from '../testing/open-stream.js';
import { ProcPeerUsers } from '../platform/peer-users.js';

const ann = { 'tailscale-user-login': 'ann' };
const DB = 'vm/lab/default/db';
const WEB = 'vm/lab/default/web';

interface Created {
  id: string;
  token: string;
}

/** A user of this machine that is not trusted. */
class OtherUser extends ProcPeerUsers {
  override userOf(): number {
    return 4242;
  }
}

describe('/api/ext/tokens', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open({ SVC_ADMINS: 'ann' });
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
  });

  afterEach(() => edge.close());

  const create = async (body: object = {}): Promise<Created> => {
    const request = { name: 'ci', actions: ['power'], scope: { folder: 'prod' }, ...body };
    const { status, json } = await edge.send('POST', '/api/ext/tokens', request, ann);
    expect([status, json.error]).toEqual([201, undefined]);
    return json as unknown as Created;
  };
  const bearer = ({ token }: Created) => ({ authorization: `Bearer ${token}` });
  const names = (reply: Reply): string[] => (reply.json as unknown as { name: string }[]).map(({ name }) => name);

  test('shows a new token once', async () => {
    const created = await create();
    expect(created.token).toMatch(/^hgt_[0-9A-Za-z]{48}$/);
    const list = await edge.send('GET', '/api/ext/tokens', undefined, ann);
    expect(list.json).toMatchObject([
      {
        id: created.id,
        name: 'ci',
        creator: 'ann',
        actions: ['power'],
        scope: { folder: 'prod' },
        expired: false,
        lastUsedAt: null,
      },
    ]);
    expect(list.body).not.toContain(created.token);
    expect(list.body).not.toMatch(/hash/);
  });

  test('accepts a token from its addresses only, until they are changed', async () => {
    const addresses = ['192.0.2.0/24'];
    const created = await create({ addresses });
    expect(created).toMatchObject({ addresses });
    const refused = await edge.send('GET', '/api/vms', undefined, bearer(created));
    expect([refused.status, refused.json.code]).toEqual([403, 'NOT_PERMITTED']);
    // The sender is a trusted proxy.
    const forwarded = { ...bearer(created), 'x-forwarded-for': '192.0.2.7' };
    expect((await edge.send('GET', '/api/vms', undefined, forwarded)).status).toBe(200);
    const strange = { ...bearer(created), 'x-forwarded-for': '192.0.2.7, 198.51.100.1' };
    expect((await edge.send('GET', '/api/vms', undefined, strange)).status).toBe(403);
    const change = { addresses: ['127.0.0.0/8', '::1'] };
    expect((await edge.send('PATCH', `/api/ext/tokens/${created.id}`, change, ann)).json).toMatchObject(change);
    expect((await edge.send('GET', '/api/vms', undefined, bearer(created))).status).toBe(200);
  });

  test.each([['10.0.0.0/33'], ['::ffff:10.0.0.0/104'], ['fe80::1%eth0'], ['example.org'], ['10.0.0.0/8/8'], [''], [7]])(
    'refuses %p as an address',
    async (address) => {
      const body = { name: 'ci', actions: ['read'], addresses: ['10.0.0.1', address] };
      const { status, json } = await edge.send('POST', '/api/ext/tokens', body, ann);
      expect([status, json.error]).toEqual([
        400,
        expect.stringContaining('addresses must be an IP address or a network such as 10.0.0.0/8'),
      ]);
    },
  );

  test('lets a token use its rights, with its creator and its ID in the journal', async () => {
    const created = await create();
    expect((await edge.send('POST', '/api/vms/default/db/stop', {}, bearer(created))).status).toBe(200);
    const [entry] = edge.service.app.get(FleetAuditLog).find({ ref: DB, limit: 1 });
    expect(entry).toMatchObject({
      caller: 'ann',
      token: created.id,
      action: 'stop',
      outcome: 'ok',
      route: 'POST /api/vms/:ns/:name/:action',
      address: '127.0.0.1',
    });
    const [token] = (await edge.send('GET', '/api/ext/tokens', undefined, ann)).json as unknown as {
      lastUsedAt: string;
    }[];
    expect(Date.parse(token?.lastUsedAt ?? '')).not.toBeNaN();
    expect((await edge.send('GET', '/api/whoami', undefined, bearer(created))).json).toEqual({
      login: 'ann',
      name: 'ci',
      admin: false,
      enforced: true,
      trust: 'users',
      token: created.id,
    });
  });

  test('shows a token only the instances in its scope', async () => {
    const headers = bearer(await create({ actions: ['read'] }));
    expect(names(await edge.send('GET', '/api/vms', undefined, headers))).toEqual(['db']);
    expect(names(await edge.send('GET', '/api/vms?q=lab&sort=-name&limit=1', undefined, headers))).toEqual(['db']);
    expect(names(await edge.send('GET', '/api/cts', undefined, headers))).toEqual([]);
    const tree = (await edge.send('GET', '/api/folders', undefined, headers)).json as unknown as {
      folders: { path: string }[];
      unfoldered: object[];
    };
    expect([tree.folders.map(({ path }) => path), tree.unfoldered]).toEqual([['prod'], []]);
    // The same ETag must not lead to another caller's list.
    const whole = await edge.send('GET', '/api/vms', undefined, ann);
    const etag = String(whole.headers['etag']);
    const again = await edge.send('GET', '/api/vms', undefined, { ...headers, 'if-none-match': etag });
    expect([again.status, names(again)]).toEqual([200, ['db']]);
  });

  test('answers the same for an instance out of scope as for one that does not exist', async () => {
    const headers = bearer(await create());
    for (const path of ['', '/events', '/snapshots']) {
      const out = await edge.send('GET', `/api/vms/default/web${path}`, undefined, headers);
      const none = await edge.send('GET', `/api/vms/default/none${path}`, undefined, headers);
      expect([out.status, out.body.replaceAll('web', 'none')]).toEqual([none.status, none.body]);
    }
    expect(edge.service.app.get(FleetAuditLog).find({ ref: WEB, limit: 10 })).toMatchObject([
      { outcome: 'denied', status: 404, route: 'GET /api/vms/:ns/:name/snapshots' },
      { outcome: 'denied', status: 404, route: 'GET /api/vms/:ns/:name/events' },
      { outcome: 'denied', status: 404, route: 'GET /api/vms/:ns/:name' },
    ]);
    // `twin` exists in two contexts, neither of them in scope.
    expect((await edge.send('GET', '/api/vms/default/twin', undefined, headers)).status).toBe(404);
  });

  test('chooses the only instance of a name that a token may read', async () => {
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/other/default/twin' }, ann);
    const headers = bearer(await create());
    expect((await edge.send('POST', '/api/vms/default/twin/start', {}, headers)).status).toBe(200);
    expect((await edge.send('POST', '/api/vms/default/twin/start?context=lab', {}, headers)).status).toBe(404);
    expect((await edge.send('POST', '/api/vms/default/twin/start', {}, ann)).status).toBe(409);
  });

  test('masks secrets for a token, whatever it is for', async () => {
    const headers = bearer(await create({ actions: ['read', 'change', 'delete', 'export'] }));
    expect((await edge.send('GET', '/api/vms/default/db', undefined, headers)).json).toMatchObject({ userData: '***' });
  });

  test('refuses bulk work on an instance out of scope before it begins, and finds none there', async () => {
    const headers = bearer(await create());
    const refused = await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB, WEB] }, headers);
    expect([refused.status, refused.json['details']]).toEqual([403, { refs: [WEB] }]);
    const deleting = await edge.send('POST', '/api/ext/bulk', { action: 'delete', refs: [DB] }, headers);
    expect(deleting.status).toBe(403);
    const changing = bearer(await create({ name: 'changing', actions: ['change'] }));
    const bulk = (action: string, more = {}) =>
      edge.send('POST', '/api/ext/bulk?dryRun=true', { action, refs: [DB], ...more }, changing);
    expect([(await bulk('migrate')).status, (await bulk('tag', { tag: 'a' })).status]).toEqual([403, 200]);
    const plan = await edge.send(
      'POST',
      '/api/ext/bulk?dryRun=true',
      { action: 'stop', query: { q: 'default' } },
      headers,
    );
    expect(JSON.stringify(plan.json['steps'])).toContain(DB);
    expect(plan.body).not.toContain(WEB);
    expect((await edge.send('GET', '/api/vms/default/db', undefined, ann)).status).toBe(200);
  });

  test('shows a token the tasks of its instances only', async () => {
    const headers = bearer(await create());
    const own = await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, headers);
    const other = await edge.send('POST', '/api/ext/bulk', { action: 'start', refs: [WEB] }, ann);
    expect((await edge.send('GET', `/api/tasks/${String(own.json['task'])}`, undefined, headers)).status).toBe(200);
    const hidden = await edge.send('GET', `/api/tasks/${String(other.json['task'])}`, undefined, headers);
    expect([hidden.status, hidden.json.code]).toEqual([404, 'TASK_NOT_FOUND']);
    expect((await edge.send('GET', '/api/tasks', undefined, headers)).body).not.toContain(String(other.json['task']));
  });

  test('never falls back on the rights of the connection', async () => {
    const { token } = await create();
    for (const authorization of [
      'Bearer hgt_',
      'bearer hgt_wrong',
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
    ]) {
      const { status, json } = await edge.send('GET', '/api/vms', undefined, { ...ann, authorization });
      expect([status, json.error]).toEqual([
        403,
        'The API token is unknown, expired or revoked, or not valid for your address.',
      ]);
    }
    // The credentials of a proxy are none of ours.
    for (const authorization of ['Basic YTpi', 'Bearer eyJhbGciOiJub25lIn0.e30.', '']) {
      expect((await edge.send('GET', '/api/vms', undefined, { ...ann, authorization })).status).toBe(200);
    }
    // Both: the token counts.
    const both = { ...ann, authorization: `Bearer ${token}` };
    expect((await edge.send('DELETE', '/api/vms/default/db', {}, both)).status).toBe(403);
  });

  test('works for a user of this machine who is not trusted, and only with a token', async () => {
    const created = await create();
    edge.peerUsers = new OtherUser();
    await edge.reopen();
    expect((await edge.send('GET', '/api/vms')).status).toBe(403);
    expect(names(await edge.send('GET', '/api/vms', undefined, bearer(created)))).toEqual(['db']);
    await edge.reopen({}, ['--open']);
    expect(names(await edge.send('GET', '/api/vms', undefined, bearer(created)))).toEqual(['db']);
    expect(names(await edge.send('GET', '/api/vms')).length).toBeGreaterThan(1);
  });

  test('needs no Origin of its own, but a known Host', async () => {
    const headers = { ...bearer(await create()), origin: 'https://ci.example.org', 'sec-fetch-site': 'cross-site' };
    expect((await edge.send('POST', '/api/vms/default/db/stop', {}, headers)).status).toBe(200);
    const rebound = await edge.send('GET', '/api/vms', undefined, { ...headers, host: 'rebound.example.org' });
    expect(rebound.json.code).toBe('UNKNOWN_HOST');
    const { authorization: _none, ...page } = headers;
    expect((await edge.send('POST', '/api/vms/default/db/start', {}, { ...ann, ...page })).json.code).toBe(
      'FOREIGN_ORIGIN',
    );
  });

  test('has no more rights than its creator has now', async () => {
    const created = await create({ actions: ['power', 'delete'] });
    await edge.reopen({ SVC_ADMINS: 'zoe' });
    expect((await edge.send('POST', '/api/vms/default/db/stop', {}, bearer(created))).status).toBe(403);
    expect(names(await edge.send('GET', '/api/vms', undefined, bearer(created)))).toEqual(['db']);
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await edge.send('POST', '/api/vms/default/db/stop', {}, bearer(created))).status).toBe(200);
  });

  test('is not created, listed or revoked with a token', async () => {
    const created = await create({ actions: ['read', 'change', 'create', 'delete'], scope: {} });
    const body = { name: 'more', actions: ['power'] };
    expect((await edge.send('POST', '/api/ext/tokens', body, bearer(created))).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/tokens', undefined, bearer(created))).status).toBe(403);
    expect((await edge.send('DELETE', `/api/ext/tokens/${created.id}`, undefined, bearer(created))).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/journal', undefined, bearer(created))).status).toBe(403);
  });

  test('ends with its streams and consoles when it is revoked', async () => {
    const created = await create({ actions: ['read', 'console', 'power'] });
    const held = Promise.withResolvers<void>();
    edge.lab.require('power').apply = () => held.promise;
    const body = { action: 'stop', refs: [DB] };
    const { json } = await edge.send('POST', '/api/ext/bulk', body, bearer(created));
    const taskStream = await openStream(edge, bearer(created), `/api/tasks/${String(json['task'])}`);
    await taskStream.until('event: snapshot');
    const stream = await openStream(edge, bearer(created));
    const console = edge.socket('/api/tty/default/db', bearer(created));
    await once(console, 'open');
    const closed = once(console, 'close');
    const revoked = await edge.send('DELETE', `/api/ext/tokens/${created.id}`, undefined, ann);
    expect(revoked.json).toEqual({ status: 'revoked' });
    expect((await closed)[0]).toBe(1008);
    await stream.ended;
    await taskStream.ended;
    held.resolve();
    expect((await edge.send('GET', '/api/vms', undefined, bearer(created))).status).toBe(403);
    expect((await edge.send('DELETE', `/api/ext/tokens/${created.id}`, undefined, ann)).json.code).toBe(
      'TOKEN_NOT_FOUND',
    );
  });

  test('streams the changes of the instances in its scope, and reports those that leave it as removed', async () => {
    const stream = await openStream(edge, bearer(await create({ actions: ['read'] })));
    await stream.until('event: snapshot');
    await edge.send('POST', '/api/vms/default/web/start', {}, ann);
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'seen', on: true }, ann);
    await stream.until('"seen"');
    await edge.send('DELETE', `/api/folders/members?ref=${DB}`, undefined, ann);
    await stream.until(`event: removed\ndata: {"ref":"${DB}"}`);
    expect(stream.text()).not.toMatch(/"name":"(web|twin)"/);
    stream.close();
  });

  test('keeps a token without the action from opening a console', async () => {
    const reading = bearer(await create({ name: 'reading', actions: ['read', 'power'] }));
    const typing = bearer(await create({ name: 'typing', actions: ['console'] }));
    const statusOf = async (headers: Record<string, string>): Promise<number> => {
      const socket = edge.socket('/api/tty/default/db', headers);
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      response.resume();
      return response.statusCode ?? 0;
    };
    expect(await statusOf(reading)).toBe(403);
    const viewer = edge.socket('/api/tty/default/db', ann);
    let seen = '';
    viewer.on('message', (data: Buffer) => (seen += String(data)));
    await once(viewer, 'open');
    const typist = edge.socket('/api/tty/default/db', typing);
    await once(typist, 'open');
    typist.send(Buffer.from('hello\n'));
    while (!seen.includes('hello')) await once(viewer, 'message');
    viewer.close();
    typist.close();
  });

  test.each([
    [{ actions: [] }],
    [{ actions: ['manage'] }],
    [{ actions: ['read', 'read'] }],
    [{ actions: 'read' }],
    [{ name: 'Not a name' }],
    [{ name: undefined }],
    [{ days: 0 }],
    [{ days: 400 }],
    [{ days: 1.5 }],
    [{ scope: { folder: '../etc' } }],
    [{ scope: { q: ' ' } }],
    [{ scope: { q: null } }],
    [{ scope: { owner: 'ann' } }],
    [{ scope: [] }],
    [{ creator: 'zoe' }],
    [{ hash: 'a' }],
  ])('refuses %j', async (wrong) => {
    const body = { name: 'ci', actions: ['read'], scope: {}, ...wrong };
    const { status, json } = await edge.send('POST', '/api/ext/tokens', body, ann);
    expect([status, typeof json.error]).toEqual([400, 'string']);
    expect((await edge.send('GET', '/api/ext/tokens', undefined, ann)).json).toEqual([]);
  });

  test('answers 409 to a name that is in use, and shows a plan without creating anything', async () => {
    await create();
    const again = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['read'] }, ann);
    expect([again.status, again.json.code]).toEqual([409, 'ALREADY_EXISTS']);
    const plan = await edge.send('POST', '/api/ext/tokens?dryRun=true', { name: 'cd', actions: ['read'] }, ann);
    expect([plan.status, Object.keys(plan.json)]).toEqual([200, ['steps', 'warnings', 'refusals']]);
    expect(names(await edge.send('GET', '/api/ext/tokens', undefined, ann))).toEqual(['ci']);
  });

  test('is in no line of the log, at any level', async () => {
    const lines: string[] = [];
    edge.log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const created = await create();
    await edge.send('POST', '/api/vms/default/db/stop', {}, bearer(created));
    await edge.send('POST', '/api/vms/default/web/stop', {}, bearer(created));
    await edge.send('DELETE', '/api/vms/default/db', {}, bearer(created));
    await edge.send('GET', '/api/vms', undefined, { authorization: `Bearer ${created.token}x` });
    expect(lines.join('')).toContain('request refused');
    expect(lines.join('')).not.toContain(created.token.slice(14, 46));
  });

  test('survives a restart, and is in no file', async () => {
    const created = await create();
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect(names(await edge.send('GET', '/api/vms', undefined, bearer(created)))).toEqual(['db']);
    const { readdirSync, readFileSync, statSync } = await import('node:fs');
    for (const file of readdirSync(edge.folder, { recursive: true, encoding: 'utf8' })) {
      const path = `${edge.folder}/${file}`;
      if (statSync(path).isFile()) expect(readFileSync(path, 'latin1')).not.toContain(created.token.slice(14, 46));
    }
  });
});

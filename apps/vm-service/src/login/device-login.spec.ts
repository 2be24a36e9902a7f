import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiTokenStore } from '@headgate/domain-contracts';
import { Accounts } from '@headgate/login';
import { Edge, type Reply } from '../testing/edge.js';

const PASSWORD = 'correct horse battery';
const OWN = { origin: 'http://localhost:8006' };
const PATH = '/api/ext/login/device';

type Headers = Record<string, string>;

describe('the login of a program', () => {
  let edge: Edge;
  let ann: Headers;

  beforeEach(async () => {
    edge = await new Edge().open({}, ['--login']);
    const secret = edge.service.app.get(Accounts).firstSecret();
    ann = sessionOf(
      await edge.send('POST', '/api/ext/login/first-account', { secret, login: 'ann', password: PASSWORD }, OWN),
    );
  });
  afterEach(() => edge.close());

  const sessionOf = ({ headers }: Reply): Headers => ({
    ...OWN,
    cookie: String(headers['set-cookie']).split(';')[0] ?? '',
  });
  const addUser = async (login: string): Promise<Headers> => {
    const { json } = await edge.send('POST', '/api/ext/accounts', { login }, ann);
    const body = { login, secret: json['secret'], password: PASSWORD };
    return sessionOf(await edge.send('POST', '/api/ext/login/setup', body, OWN));
  };
  const begin = async (body: object = {}) =>
    (await edge.send('POST', PATH, { machine: 'laptop', ...body })).json as unknown as Record<string, string>;
  const poll = async (deviceCode = ''): Promise<Reply['json']> =>
    (await edge.send('POST', `${PATH}/token`, { deviceCode })).json;
  const decide = (what: 'approve' | 'deny' | 'request', userCode = '', headers = ann): Promise<Reply> =>
    edge.send('POST', `${PATH}/${what}`, { userCode }, headers);
  const logIn = async (headers = ann, body: object = {}): Promise<Headers> => {
    const { userCode, deviceCode } = await begin(body);
    expect((await decide('approve', userCode, headers)).status).toBe(200);
    return { authorization: `Bearer ${String((await poll(deviceCode))['token'])}` };
  };
  const whoami = (headers: Headers): Promise<Reply> => edge.send('GET', '/api/whoami', undefined, headers);
  const devices = async (headers: Headers) =>
    (await edge.send('GET', '/api/ext/login/devices', undefined, headers)).json as unknown as Record<string, unknown>[];

  test('gives the program a token with the rights of the user, named after its machine', async () => {
    const begun = await begin({ actions: ['power', 'read'], days: 7 });
    expect(begun).toEqual({
      deviceCode: expect.stringMatching(/^[\w-]{43}$/),
      userCode: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      page: '/#/device',
      expiresInSeconds: 600,
      intervalSeconds: 5,
    });
    expect(await poll(begun['deviceCode'])).toEqual({ status: 'pending', intervalSeconds: 5 });
    expect(await poll(begun['deviceCode'])).toEqual({ status: 'slow-down', intervalSeconds: 10 });
    expect((await decide('request', begun['userCode'])).json).toMatchObject({
      machine: 'laptop',
      address: '127.0.0.1',
      ownAddress: '127.0.0.1',
      actions: ['read', 'power'],
      days: 7,
    });
    expect((await decide('approve', begun['userCode'])).json).toEqual({ status: 'approved' });
    const { token, ...answer } = await poll(begun['deviceCode']);
    expect(answer).toMatchObject({ status: 'approved', name: 'laptop' });
    const headers = { authorization: `Bearer ${String(token)}` };
    expect((await whoami(headers)).json).toMatchObject({ login: 'ann', name: 'laptop', admin: false });
    expect((await edge.send('POST', '/api/vms/default/web/start?dryRun=true', undefined, headers)).status).toBe(200);
    expect((await edge.send('DELETE', '/api/vms/default/web?dryRun=true', undefined, headers)).status).toBe(403);
    expect(await poll(begun['deviceCode'])).toEqual({ status: 'expired' });
    const list = await edge.send('GET', '/api/ext/tokens', undefined, ann);
    expect(list.json).toMatchObject([{ name: 'laptop', creator: 'ann', device: true, actions: ['read', 'power'] }]);
  });

  test('gives a program not more rights than the user has who approves it', async () => {
    const token = await logIn(await addUser('bob'));
    const vms = async () => (await edge.send('GET', '/api/vms', undefined, token)).json as unknown as object[];
    expect((await vms()).length).toBeGreaterThan(0);
    expect((await edge.send('POST', '/api/vms/default/web/start?dryRun=true', undefined, token)).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/tokens', undefined, token)).status).toBe(403);
    await edge.send('PATCH', '/api/ext/accounts/bob', { disabled: true }, ann);
    expect(await vms()).toEqual([]);
  });

  test('keeps a waiting program over a restart', async () => {
    const { userCode, deviceCode } = await begin();
    await edge.reopen({}, ['--login']);
    expect(await poll(deviceCode)).toMatchObject({ status: 'pending' });
    await decide('approve', userCode);
    await edge.reopen({}, ['--login']);
    expect(await poll(deviceCode)).toMatchObject({ status: 'approved' });
  });

  test('is approved by the page only, in a session that has not ended', async () => {
    const { userCode, deviceCode } = await begin();
    const { cookie = '' } = ann;
    for (const headers of [
      {},
      OWN,
      { cookie },
      { cookie, origin: 'https://evil.example' },
      { cookie, 'sec-fetch-site': 'cross-site' },
      await logIn(),
    ] as Headers[])
      expect((await decide('approve', userCode, headers)).status).toBeGreaterThan(400);
    await edge.send('POST', '/api/ext/login/logout', {}, ann);
    expect((await decide('approve', userCode)).status).toBe(401);
    expect(await poll(deviceCode)).toMatchObject({ status: 'pending' });
  });

  test('has no page or route that approves with a link', async () => {
    const { userCode, page } = await begin();
    expect(page).not.toContain(userCode);
    for (const path of [`${PATH}/approve`, PATH])
      expect((await edge.send('GET', `${path}?userCode=${userCode}`, undefined, ann)).status).toBe(404);
  });

  test.each(['\x1b[2J', 'Ann\u2019s Mac', '<b>', 'x'.repeat(64), '\u202egro', 'UPPER', ''])(
    'refuses the machine %j, which a page or a terminal would show',
    async (machine) => {
      expect((await edge.send('POST', PATH, { machine })).status).toBe(400);
    },
  );

  test.each([{ actions: ['manage'] }, { actions: [] }, { days: 91 }, { days: 0 }, { scope: {} }])(
    'refuses a request for %j',
    async (body) => {
      expect((await edge.send('POST', PATH, { machine: 'laptop', ...body })).status).toBe(400);
    },
  );

  test('reports to the program that the user has denied it', async () => {
    const { userCode, deviceCode } = await begin();
    expect((await decide('deny', userCode)).json).toEqual({ status: 'denied' });
    expect(await poll(deviceCode)).toEqual({ status: 'denied' });
  });

  test('lets users list and revoke their own programs, and a program only itself', async () => {
    const bob = await addUser('bob');
    const [first, second] = [await logIn(bob), await logIn(bob)];
    await logIn(ann);
    await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['read'] }, ann);
    const own = await devices(bob);
    expect(own.map(({ name }) => name).sort()).toEqual(['laptop', 'laptop-2']);
    expect((await devices(ann)).map(({ name }) => name)).toEqual(['laptop-3']);
    expect((await devices(first)).map(({ name }) => name)).toEqual(['laptop']);
    const idOf = (name: string): string => String(own.find((one) => one['name'] === name)?.['id']);
    const revoke = (id: string, headers: Headers) => edge.send('DELETE', `/api/ext/login/devices/${id}`, {}, headers);
    expect((await revoke(idOf('laptop-2'), first)).status).toBe(404);
    expect((await revoke(idOf('laptop'), ann)).status).toBe(404);
    const { id: ci } = edge.service.app
      .get(ApiTokenStore)
      .all()
      .find(({ name }) => name === 'ci')!;
    expect((await revoke(ci, ann)).status).toBe(404);
    const dryRun = await revoke(`${idOf('laptop')}?dryRun=true`, first);
    expect(dryRun.json).toMatchObject({ steps: [{ name: 'revoke token', detail: 'laptop' }] });
    expect((await whoami(first)).status).toBe(200);
    expect((await revoke(idOf('laptop'), first)).json).toEqual({ status: 'revoked' });
    expect([(await whoami(first)).status, (await whoami(second)).status]).toEqual([403, 200]);
    expect((await revoke(idOf('laptop-2'), bob)).status).toBe(200);
    expect(edge.service.app.get(ApiTokenStore).all()).toHaveLength(2);
  });

  test('gives a later account of the same login nothing that the former one has approved', async () => {
    const bob = await addUser('bob');
    const token = await logIn(bob);
    const { userCode, deviceCode } = await begin();
    await decide('approve', userCode, bob);
    await edge.send('DELETE', '/api/ext/accounts/bob', {}, ann);
    await addUser('bob');
    expect((await whoami(token)).status).toBe(403);
    expect(await poll(deviceCode)).toEqual({ status: 'expired' });
  });

  test('refuses the 21st program of a user on the page, and leaves the tokens of administrators room', async () => {
    const created = edge.service.app.get(ApiTokenStore);
    for (let number = 0; number < 20; number++)
      await created.put({
        id: `device${String(number).padStart(4, '0')}`,
        name: `device-${number}`,
        hash: String(number).padStart(64, '0'),
        creator: 'Ann',
        scope: {},
        actions: ['read'],
        isOfDevice: true,
        createdAt: '2026-01-01T00:00:00.000Z',
        expiresAt: '2999-01-01T00:00:00.000Z',
        lastUsedAt: null,
      });
    const { userCode, deviceCode } = await begin();
    const { status, json } = await decide('approve', userCode);
    expect([status, json.error]).toEqual([409, expect.stringContaining('revoke one')]);
    expect(await poll(deviceCode)).toMatchObject({ status: 'pending' });
    expect((await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['read'] }, ann)).status).toBe(201);
  });

  test('writes neither code nor token to the journal', async () => {
    const { userCode, deviceCode } = await begin();
    await decide('approve', userCode);
    const { token } = await poll(deviceCode);
    const { json } = await edge.send('GET', '/api/ext/journal', undefined, ann);
    const text = JSON.stringify(json);
    expect(text).toContain('approve device login');
    expect(text).toContain('create token');
    for (const secret of [userCode, deviceCode, String(token)]) expect(text).not.toContain(secret);
  });

  test('is refused over plain HTTP from another machine', async () => {
    const remote = { 'x-forwarded-for': '203.0.113.5' };
    expect((await edge.send('POST', PATH, { machine: 'laptop' }, remote)).status).toBe(403);
    expect((await edge.send('POST', `${PATH}/token`, { deviceCode: 'a'.repeat(43) }, remote)).status).toBe(403);
  });
});

describe('the login of a program at a service whose users a proxy identifies', () => {
  let edge: Edge;
  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  const begin = (headers: Headers = {}): Promise<Reply> => edge.send('POST', PATH, { machine: 'laptop' }, headers);

  test('is not needed without administrators, roles and a login', async () => {
    expect((await begin()).json).toMatchObject({ code: 'NOT_SUPPORTED' });
  });

  test('gives the rights of the user whom the proxy has identified', async () => {
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, JSON.stringify({ admins: ['root'] }));
    await edge.reopen({}, ['--config', file]);
    const { json } = await begin();
    const approve = (headers: Headers): Promise<Reply> =>
      edge.send('POST', `${PATH}/approve`, { userCode: json['userCode'] }, headers);
    expect((await approve(OWN)).status).toBe(403);
    const carl = { ...OWN, 'tailscale-user-login': 'carl' };
    expect((await approve({ ...carl, origin: 'https://evil.example' })).status).toBe(403);
    expect((await approve(carl)).status).toBe(200);
    const { json: polled } = await edge.send('POST', `${PATH}/token`, { deviceCode: json['deviceCode'] });
    const token = { authorization: `Bearer ${String(polled['token'])}` };
    expect((await edge.send('GET', '/api/vms', undefined, token)).status).toBe(200);
    expect((await edge.send('POST', '/api/vms/default/web/start', undefined, token)).status).toBe(403);
  });
});

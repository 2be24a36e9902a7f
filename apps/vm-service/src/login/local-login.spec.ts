import 'reflect-metadata';
import { once } from 'node:events';
import { AccountStore } from '@headgate/domain-contracts';
import { Accounts, Passwords } from '@headgate/login';
import { Edge, refusalOf, type Reply } from '../testing/edge.js';

const PASSWORD = 'correct horse battery';
const OTHER = 'another staple, please';
const OWN = { origin: 'http://localhost:8006' };

const cookieOf = ({ headers }: Reply): string => String(headers['set-cookie']).split(';')[0] ?? '';

describe('a service with --login', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open({}, ['--login']);
  });
  afterEach(() => edge.close());

  const secretOf = (): string => edge.service.app.get(Accounts).firstSecret() ?? '';
  const createFirst = (secret = secretOf()): Promise<Reply> =>
    edge.send('POST', '/api/ext/login/first-account', { secret, login: 'ann', password: PASSWORD }, OWN);
  const logIn = (login: string, password: string, headers: Record<string, string> = {}): Promise<Reply> =>
    edge.send('POST', '/api/ext/login/password', { login, password }, { ...OWN, ...headers });
  const whoami = (cookie: string): Promise<Reply> => edge.send('GET', '/api/whoami', undefined, { cookie });
  const addUser = async (login: string, headers: Record<string, string>): Promise<Reply> => {
    const { json } = await edge.send('POST', '/api/ext/accounts', { login }, headers);
    return edge.send('POST', '/api/ext/login/setup', { login, secret: json['secret'], password: OTHER }, OWN);
  };

  test('answers without a session with 401, except for the page, its login and the probes', async () => {
    for (const path of [
      '/api/whoami',
      '/api/vms',
      '/api/ext/stream?lists=vms',
      '/metrics',
      '/api/ext/login/sessions',
    ]) {
      const { status, json } = await edge.send('GET', path);
      expect([path, status, json.code]).toEqual([path, 401, 'LOGIN_REQUIRED']);
    }
    expect((await edge.send('POST', '/api/vms/default/web/start')).status).toBe(401);
    expect(await refusalOf(edge.socket('/api/tty/default/db'))).toBe(401);
    for (const path of ['/healthz', '/readyz', '/api/ext/login'])
      expect([path, (await edge.send('GET', path)).status]).toEqual([path, 200]);
    expect((await edge.send('GET', '/')).status).not.toBe(401);
    const view = { enabled: true, local: true, first: true, providers: [], passkeys: false };
    expect((await edge.send('GET', '/api/ext/login')).json).toEqual(view);
  });

  test('does not believe the identity headers of a proxy, which anyone may send through it', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' }, ['--login']);
    expect((await edge.send('GET', '/api/whoami', undefined, { 'tailscale-user-login': 'ann' })).status).toBe(401);
  });

  test('creates the first account with the secret of the start, and logs it in as an administrator', async () => {
    const body = { secret: 'wrong', login: 'eve', password: PASSWORD };
    expect((await edge.send('POST', '/api/ext/login/first-account', body, OWN)).status).toBe(403);
    const secret = secretOf();
    const created = await createFirst(secret);
    expect([created.status, created.json]).toEqual([200, { login: 'ann', name: '' }]);
    expect(String(created.headers['set-cookie'])).toMatch(
      /^headgate=[\w-]{12}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect((await whoami(cookieOf(created))).json).toMatchObject({ login: 'ann', admin: true, enforced: true });
    expect((await edge.send('GET', '/api/ext/login')).json).toMatchObject({ first: false });
    expect((await createFirst(secret)).status).toBe(403);
  });

  test('keeps sessions and accounts over a restart', async () => {
    const cookie = cookieOf(await createFirst());
    await edge.reopen({}, ['--login']);
    expect([(await whoami(cookie)).status, secretOf()]).toEqual([200, '']);
  });

  test('replaces a session that the browser brings along, which an attacker may have set', async () => {
    const first = cookieOf(await createFirst());
    const planted = 'headgate=AAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    const fixed = await logIn('ann', PASSWORD, { cookie: planted });
    expect(cookieOf(fixed)).not.toBe(planted);
    expect((await whoami(planted)).status).toBe(401);
    const again = await logIn('ann', PASSWORD, { cookie: first });
    expect([(await whoami(first)).status, (await whoami(cookieOf(again))).status]).toEqual([401, 200]);
  });

  test('refuses a cookie that occurs twice', async () => {
    const cookie = cookieOf(await createFirst());
    expect((await whoami(`${cookie}; ${cookie}`)).status).toBe(401);
    expect((await whoami(`other=1; ${cookie}`)).status).toBe(200);
  });

  test('lets a session change something only from its own page', async () => {
    const cookie = cookieOf(await createFirst());
    const start = (headers: Record<string, string>): Promise<number> =>
      edge
        .send('POST', '/api/vms/default/web/start?dryRun=true', undefined, { cookie, ...headers })
        .then(({ status }) => status);
    expect(await start({})).toBe(403);
    expect(await start({ origin: 'https://evil.example' })).toBe(403);
    expect(await start({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await start({ 'sec-fetch-site': 'none' })).toBe(403);
    expect(await start({ origin: 'http://localhost:8006', 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await start(OWN)).toBe(200);
    expect(await start({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await refusalOf(edge.socket('/api/tty/default/db', { cookie }))).toBe(403);
  });

  test('refuses a login over plain HTTP from another machine, also behind a proxy that says so', async () => {
    await createFirst();
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.5' },
      { 'x-forwarded-proto': 'http' },
      { forwarded: 'for=203.0.113.5' },
    ] as Record<string, string>[]) {
      const { status, json } = await logIn('ann', PASSWORD, headers);
      expect([status, json.error]).toEqual([403, expect.stringMatching(/^Log in over HTTPS/)]);
    }
    await edge.reopen({ SVC_ALLOWED_HOSTS: 'vm.example.org' }, ['--login']);
    const named = { host: 'vm.example.org', origin: 'http://vm.example.org' };
    expect((await logIn('ann', PASSWORD, named)).json.error).toMatch(/^Log in over HTTPS/);
    const refusal = (await edge.send('GET', '/api/ext/login', undefined, named)).json['refusal'];
    expect(refusal).toMatch(/^Log in over HTTPS/);
  });

  test('has a cookie for this host over TLS only, behind a trusted proxy with TLS', async () => {
    await createFirst();
    const headers = {
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '203.0.113.5',
      origin: 'https://localhost:8006',
    };
    const reply = await logIn('ann', PASSWORD, headers);
    expect(String(reply.headers['set-cookie'])).toMatch(
      /^__Host-headgate=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const cookie = cookieOf(reply);
    expect((await whoami(cookie)).status).toBe(401);
    expect((await edge.send('GET', '/api/whoami', undefined, { ...headers, cookie })).status).toBe(200);
    const [session] = await sessionsOf(cookie, headers);
    expect(session).toMatchObject({ address: '203.0.113.5' });
  });

  test('does not believe X-Forwarded-Proto of a stranger', async () => {
    await createFirst();
    await edge.reopen({ SVC_TRUSTED_PROXIES: '192.0.2.1' }, ['--login']);
    const { status, json } = await logIn('ann', PASSWORD, {
      'x-forwarded-proto': 'https',
      origin: 'https://localhost:8006',
    });
    expect([status, json.error]).toEqual([403, expect.stringMatching(/^Log in over HTTPS/)]);
  });

  const sessionsOf = async (cookie: string, headers: Record<string, string> = {}) =>
    (await edge.send('GET', '/api/ext/login/sessions', undefined, { ...headers, cookie })).json as unknown as {
      id: string;
      current: boolean;
      login: string;
    }[];

  test('ends the streams and consoles of a session that logs out, and no others', async () => {
    const cookie = cookieOf(await createFirst());
    const stays = cookieOf(await logIn('ann', PASSWORD));
    const origin = `http://${edge.base}`;
    const open = async (own: string) => {
      const response = await fetch(`${origin}/api/vms`, { headers: { cookie: own, accept: 'text/event-stream' } });
      const socket = edge.socket('/api/tty/default/db', { cookie: own, origin });
      await once(socket, 'open');
      return { response, socket };
    };
    const [ends, other] = [await open(cookie), await open(stays)];
    expect([ends.response.status, other.response.status]).toEqual([200, 200]);
    const closed = once(ends.socket, 'close');
    const read = (async () => {
      for await (const _ of ends.response.body!) void _;
    })().catch(() => undefined);
    expect((await edge.send('POST', '/api/ext/login/logout', {}, { ...OWN, cookie })).json).toEqual({ redirect: null });
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, String(reason)]).toEqual([1008, 'the session has ended']);
    await read;
    expect([(await whoami(cookie)).status, (await whoami(stays)).status]).toEqual([401, 200]);
    expect(other.socket.readyState).toBe(other.socket.OPEN);
    other.socket.terminate();
    await other.response.body?.cancel();
  });

  test('closes the console of an account that is deleted, and its token has no rights then', async () => {
    const admin = { ...OWN, cookie: cookieOf(await createFirst()) };
    const bob = cookieOf(await addUser('bob', admin));
    const socket = edge.socket('/api/tty/default/db', { cookie: bob, origin: `http://${edge.base}` });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    expect((await edge.send('DELETE', '/api/ext/accounts/bob', {}, admin)).status).toBe(200);
    expect((await closed)[0]).toBe(1008);
    expect([(await whoami(bob)).status, (await logIn('bob', OTHER)).status]).toEqual([401, 403]);
  });

  test('takes the rights of the API tokens of an account that is disabled', async () => {
    const first = { ...OWN, cookie: cookieOf(await createFirst()) };
    const bob = await addUser('bob', first);
    await edge.send('PATCH', '/api/ext/accounts/bob', { admin: true }, first);
    const cookie = cookieOf(await logIn('bob', OTHER));
    expect([bob.status, cookie]).toEqual([200, expect.stringContaining('headgate=')]);
    const created = await edge.send(
      'POST',
      '/api/ext/tokens',
      { name: 'ci', actions: ['read', 'power'] },
      { ...OWN, cookie },
    );
    const authorization = `Bearer ${String(created.json['token'])}`;
    const read = (): Promise<Reply> => edge.send('GET', '/api/vms/default/web', undefined, { authorization });
    expect((await read()).status).toBe(200);
    await edge.send('PATCH', '/api/ext/accounts/bob', { disabled: true }, first);
    expect((await read()).status).toBe(404);
  });

  test('revokes the API tokens of a deleted account, which another account of its name does not have', async () => {
    const admin = { ...OWN, cookie: cookieOf(await createFirst()) };
    let count = 0;
    const tokenOf = async (cookie: string): Promise<() => Promise<number>> => {
      const body = { name: `ci-${++count}`, actions: ['read'] };
      const { json } = await edge.send('POST', '/api/ext/tokens', body, { ...OWN, cookie });
      const authorization = `Bearer ${String(json['token'])}`;
      return async () => (await edge.send('GET', '/api/vms/default/web', undefined, { authorization })).status;
    };
    const addBob = async (): Promise<string> => {
      const { json } = await edge.send('POST', '/api/ext/accounts', { login: 'bob', admin: true }, admin);
      const setup = { login: 'bob', secret: json['secret'], password: OTHER };
      return cookieOf(await edge.send('POST', '/api/ext/login/setup', setup, OWN));
    };
    const readAsBob = await tokenOf(await addBob());
    const readAsAnn = await tokenOf(admin.cookie);
    expect([await readAsBob(), await readAsAnn()]).toEqual([200, 200]);
    // A service that was killed between the account and its tokens.
    await edge.service.app.get(AccountStore, { strict: false }).delete('bob');
    await addBob();
    expect(await readAsBob()).toBe(403);
    const again = await tokenOf(cookieOf(await logIn('bob', OTHER)));
    expect(await again()).toBe(200);
    await edge.send('DELETE', '/api/ext/accounts/bob', {}, admin);
    expect([await again(), await readAsAnn()]).toEqual([403, 200]);
    const { json } = await edge.send('GET', '/api/ext/journal?action=revoke', undefined, admin);
    expect(json).toMatchObject([
      { caller: 'ann', message: expect.stringContaining('because the account bob has ended') },
      { caller: 'ann' },
    ]);
  });

  test('makes other users readers, who manage neither accounts nor the sessions of others', async () => {
    const admin = { ...OWN, cookie: cookieOf(await createFirst()) };
    const reply = await addUser('bob', admin);
    const bob = { ...OWN, cookie: cookieOf(reply) };
    expect((await edge.send('GET', '/api/vms', undefined, bob)).status).toBe(200);
    expect((await edge.send('POST', '/api/vms/default/web/start', undefined, bob)).status).toBe(403);
    for (const path of ['/api/ext/accounts', '/api/ext/sessions'])
      expect((await edge.send('GET', path, undefined, bob)).status).toBe(403);
    const [own] = await sessionsOf(admin.cookie);
    expect((await edge.send('DELETE', `/api/ext/login/sessions/${own?.id}`, {}, bob)).json.code).toBe(
      'SESSION_NOT_FOUND',
    );
    const [session] = await sessionsOf(bob.cookie);
    expect(session).toMatchObject({ login: 'bob', current: true });
    expect(JSON.stringify(session)).not.toMatch(/hash|idToken/);
    expect((await edge.send('DELETE', `/api/ext/sessions/${session?.id}`, {}, admin)).status).toBe(200);
    expect((await whoami(bob.cookie)).status).toBe(401);
  });

  test('changes the own password with a new cookie, and refuses the former one', async () => {
    const cookie = cookieOf(await createFirst());
    const other = cookieOf(await logIn('ann', PASSWORD));
    const body = { current: PASSWORD, next: OTHER };
    const reply = await edge.send('POST', '/api/ext/login/own-password', body, { ...OWN, cookie });
    expect(reply.status).toBe(200);
    const statuses = [cookie, other, cookieOf(reply)].map(async (one) => (await whoami(one)).status);
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
    expect([(await logIn('ann', PASSWORD)).status, (await logIn('ann', OTHER)).status]).toEqual([403, 200]);
  });

  test('refuses more guesses with 429 before it hashes them, for accounts that exist and for others', async () => {
    await createFirst();
    const passwords = edge.service.app.get(Passwords);
    for (const login of ['ann', 'zoe']) {
      const before = passwords.hashed;
      const seen = [];
      for (let index = 0; index < 12; index++) {
        const { status, json } = await logIn(login, OTHER);
        seen.push([status, json.code]);
      }
      expect(seen.slice(0, 10)).toEqual(Array(10).fill([403, 'LOGIN_FAILED']));
      expect(seen.slice(10)).toEqual(Array(2).fill([429, 'TOO_MANY_LOGINS']));
      expect(passwords.hashed - before).toBe(10);
    }
  });

  test('records logins and refused logins in the journal, without passwords', async () => {
    const cookie = cookieOf(await createFirst());
    await logIn('ann', OTHER);
    await edge.send('POST', '/api/ext/login/logout', {}, { ...OWN, cookie });
    const again = cookieOf(await logIn('ann', PASSWORD));
    const { body } = await edge.send('GET', '/api/ext/journal', undefined, { cookie: again });
    expect((JSON.parse(body) as { action: string }[]).map(({ action }) => action)).toEqual([
      'log in',
      'log out',
      'POST /api/ext/login/password',
      'log in',
      'create account',
    ]);
    expect(body).not.toMatch(/correct horse|another staple/);
  });

  test('lets an API token neither list nor end sessions', async () => {
    const cookie = cookieOf(await createFirst());
    const created = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['read'] }, { ...OWN, cookie });
    const headers = { authorization: `Bearer ${String(created.json['token'])}` };
    expect((await edge.send('GET', '/api/ext/login/sessions', undefined, headers)).json.code).toBe('NOT_SUPPORTED');
  });
});

describe('the login of a service without one', () => {
  test('is off, and changes nothing', async () => {
    const edge = await new Edge().open();
    expect((await edge.send('GET', '/api/ext/login')).json).toEqual({
      enabled: false,
      local: false,
      first: false,
      providers: [],
      passkeys: false,
    });
    const login = { login: 'ann', password: PASSWORD };
    expect((await edge.send('POST', '/api/ext/login/password', login)).json.code).toBe('NOT_SUPPORTED');
    expect((await edge.send('GET', '/api/whoami')).json).toEqual({
      login: '',
      name: '',
      admin: true,
      enforced: false,
      trust: 'users',
    });
    await edge.close();
  });
});

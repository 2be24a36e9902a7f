import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Accounts } from '@headgate/login';
import { SoftwareAuthenticator } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';

const PASSWORD = 'correct horse battery';
const ORIGIN = 'https://headgate.example.org';
/** As a trusted proxy with TLS sends them. */
const BROWSER = { host: 'headgate.example.org', origin: ORIGIN, 'x-forwarded-proto': 'https' };

describe('the passkeys of a service with login.address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-passkeys-'));
  const file = join(folder, 'headgate.yaml');
  let edge: Edge;
  let session: string;
  let key: SoftwareAuthenticator;

  beforeEach(async () => {
    const settings = { login: { address: ORIGIN }, allowedHosts: ['headgate.example.org', 'other.example.org'] };
    writeFileSync(file, JSON.stringify(settings));
    edge = await new Edge().open({}, ['--config', file]);
    const secret = edge.service.app.get(Accounts).firstSecret();
    session = cookiesOf(await post('first-account', { secret, login: 'ann', password: PASSWORD }));
    key = new SoftwareAuthenticator(ORIGIN);
  });
  afterEach(() => edge.close());
  afterAll(() => rmSync(folder, { recursive: true }));

  const cookiesOf = ({ headers }: Reply): string =>
    [headers['set-cookie'] ?? []]
      .flat()
      .map((line) => String(line).split(';')[0])
      .join('; ');
  const post = (path: string, body: object, cookie = '', headers: Record<string, string> = BROWSER): Promise<Reply> =>
    edge.send('POST', `/api/ext/login/${path}`, body, { ...headers, ...(cookie !== '' && { cookie }) });
  const add = async (from = key, own = session): Promise<Reply> => {
    const begun = await post('passkeys/options', { password: PASSWORD }, own);
    const answer = from.create(begun.json as never);
    return post('passkeys', { name: 'laptop', ...answer }, `${own}; ${cookiesOf(begun)}`);
  };
  const logIn = async (from = key, own = ''): Promise<Reply> => {
    const begun = await post('passkey/options', {}, own);
    const answer = from.get(begun.json as never);
    return post('passkey', answer, [own, cookiesOf(begun)].filter(Boolean).join('; '));
  };
  const whoami = (cookie: string): Promise<Reply> => edge.send('GET', '/api/whoami', undefined, { ...BROWSER, cookie });

  test('logs in with a passkey, with a new session, which the journal records', async () => {
    const added = await add();
    expect([added.status, added.json]).toMatchObject([201, { name: 'laptop', refused: false, lastUsedAt: null }]);
    const reply = await logIn(key, session);
    expect([reply.status, reply.json]).toEqual([200, { login: 'ann', name: '' }]);
    const lines = reply.headers['set-cookie'] as string[];
    expect(lines[0]).toMatch(/^__Host-headgate-passkey=; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=0$/);
    const cookie = lines[1]?.split(';')[0] ?? '';
    expect([(await whoami(session)).status, (await whoami(cookie)).json['login']]).toEqual([401, 'ann']);
    const { body } = await edge.send('GET', '/api/ext/journal', undefined, { ...BROWSER, cookie });
    const entries = JSON.parse(body) as { action: string; message: string }[];
    const own = entries.filter(({ action }) => /^(log in|add passkey)$/.test(action));
    expect(own.slice(0, 2).map(({ action, message }) => [action, message])).toEqual([
      ['log in', 'with the passkey laptop'],
      ['add passkey', 'laptop'],
    ]);
  });

  test('asks for the name of the configuration, whatever the Host header is', async () => {
    const other = { host: 'other.example.org', origin: 'https://other.example.org', 'x-forwarded-proto': 'https' };
    const begun = await post('passkey/options', {}, '', other);
    expect(begun.json).toMatchObject({ rpId: 'headgate.example.org', userVerification: 'required' });
    await add();
    const there = new SoftwareAuthenticator('https://other.example.org');
    Object.assign(there, { id: key.id, userHandle: key.userHandle });
    const answer = there.get(begun.json as never);
    const { status, json } = await post('passkey', answer, cookiesOf(begun), other);
    expect([status, json.code]).toEqual([403, 'LOGIN_FAILED']);
  });

  test('answers with the same text to an unknown passkey and to a wrong signature', async () => {
    await add();
    const forger = new SoftwareAuthenticator(ORIGIN);
    const unknown = await logIn(forger);
    Object.assign(forger, { id: key.id, userHandle: key.userHandle });
    const forged = await logIn(forger);
    expect([unknown.status, unknown.body]).toEqual([forged.status, forged.body]);
    expect(unknown.status).toBe(403);
  });

  test('refuses odd answers without a trace of their content', async () => {
    for (const body of [
      {},
      { id: 'AAAA', clientDataJSON: 'a b', authenticatorData: 'AAAA', signature: 'AAAA', userHandle: 'AAAA' },
      { id: 'A'.repeat(1365), clientDataJSON: 'AAAA', authenticatorData: 'A', signature: 'A', userHandle: 'A' },
    ]) {
      const { status, json } = await post('passkey', body);
      expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    }
    const begun = await post('passkey/options', {});
    const garbage = { id: 'AAAA', clientDataJSON: 'AAAA', authenticatorData: 'A', signature: 'A', userHandle: 'A' };
    const { status, json } = await post('passkey', garbage, cookiesOf(begun));
    expect([status, json.code]).toEqual([403, 'LOGIN_FAILED']);
  });

  test('lists and removes only own passkeys, with a session of the own page', async () => {
    const { json: added } = await add();
    const path = `/api/ext/login/passkeys/${String(added['id'])}`;
    const admin = { ...BROWSER, cookie: session };
    const { json } = await edge.send('POST', '/api/ext/accounts', { login: 'bob' }, admin);
    const bob = cookiesOf(await post('setup', { login: 'bob', secret: json['secret'], password: PASSWORD }));
    const removed = await edge.send('DELETE', path, {}, { ...BROWSER, cookie: bob });
    expect([removed.status, removed.json.code]).toEqual([404, 'PASSKEY_NOT_FOUND']);
    const list = (cookie: string) => edge.send('GET', '/api/ext/login/passkeys', undefined, { ...BROWSER, cookie });
    expect([(await list(bob)).body, (await list('')).status]).toEqual(['[]', 401]);
    const created = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['read'] }, admin);
    const authorization = `Bearer ${String(created.json['token'])}`;
    const byToken = await edge.send('GET', '/api/ext/login/passkeys', undefined, { ...BROWSER, authorization });
    expect(byToken.json.code).toBe('NOT_SUPPORTED');
    expect((await edge.send('DELETE', path, {}, { ...BROWSER, cookie: session })).json).toEqual({ status: 'removed' });
    expect((await logIn()).status).toBe(403);
  });

  test('ends the session of a passkey whose account is disabled, and refuses the next login', async () => {
    const admin = { ...BROWSER, cookie: session };
    const { json } = await edge.send('POST', '/api/ext/accounts', { login: 'bob' }, admin);
    const bob = cookiesOf(await post('setup', { login: 'bob', secret: json['secret'], password: PASSWORD }));
    await add(key, bob);
    const cookie =
      cookiesOf(await logIn())
        .split('; ')
        .at(-1) ?? '';
    expect((await whoami(cookie)).json['login']).toBe('bob');
    await edge.send('PATCH', '/api/ext/accounts/bob', { disabled: true }, admin);
    expect([(await whoami(cookie)).status, (await logIn()).status]).toEqual([401, 403]);
  });

  test('has no passkeys without an address, and says so', async () => {
    await edge.reopen({ SVC_ALLOWED_HOSTS: 'headgate.example.org' }, ['--login']);
    expect((await edge.send('GET', '/api/ext/login', undefined, BROWSER)).json).toMatchObject({ passkeys: false });
    const { json } = await post('passkey/options', {});
    expect([json.code, json.error]).toEqual(['NOT_SUPPORTED', expect.stringContaining('set login.address')]);
  });
});

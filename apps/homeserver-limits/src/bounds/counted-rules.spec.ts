import { type Caller, type Identity, jsonResponse, type MatrixRequest } from '@headgate/homeserver-contracts';
import { MemoryRateLimiter } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import { RecipientKeys } from '../state/recipient-keys.js';
import { CountedRules } from './counted-rules.js';

const CLIENT = '/_matrix/client/v3';
const rule = (on: string, by: string, limit: number, more = '') =>
  `[[rules]]\nname = "mine"\non = ["${on}"]\nby = "${by}"\nlimit = ${limit}\nwindow = "1h"\n${more}`;

function open(toml: string) {
  const outcomes: string[] = [];
  let lookups = 0;
  const rules = new Rules(new MemoryRateLimiter(), new LiveConfig(parseConfig(toml)), {
    onGranted: (name) => outcomes.push(`${name} granted`),
    onRefused: ({ rule, key }, _facts, isShadow) => outcomes.push(`${rule} ${isShadow ? 'shadow' : 'refused'} ${key}`),
  });
  const callerOf = async (request: MatrixRequest): Promise<Caller> => {
    lookups++;
    const token = request.token();
    if (token === undefined) throw MatrixError.missingToken();
    return { userId: `@${token}:b`, exemptFromRates: false };
  };
  const counted = new CountedRules(
    rules,
    { callerOf } as Partial<Identity> as Identity,
    new RecipientKeys(() => 's'),
    () => 'b.example',
  );
  const send = async (
    method: string,
    target: string,
    { token, body = {}, source = 'here', status = 200, form = '' }: Sent = {},
  ) => {
    const operation = counted.operationOf(method, target);
    if (operation === undefined) return 'not counted';
    const request = {
      method,
      target,
      address: source,
      source,
      hasBody: true,
      token: () => token,
      json: async () => body,
      bytes: async () => Buffer.from(form),
    } as unknown as MatrixRequest;
    const next = async () => jsonResponse(status, {});
    return counted.run(request, operation, next).then(
      (response) => response.status,
      (error: Error & { status?: number }) => error.status ?? error.constructor.name,
    );
  };
  return { send, outcomes, lookups: () => lookups };
}

interface Sent {
  token?: string;
  body?: object;
  source?: string;
  status?: number;
  form?: string;
}

describe('CountedRules', () => {
  test('look up no path and read nothing without a rule on their events', async () => {
    const { send, lookups } = open(rule('message', 'user', 1));
    for (const target of [`${CLIENT}/keys/query`, `${CLIENT}/register/email/requestToken`])
      expect(await send('POST', target)).toBe('not counted');
    expect(await send('GET', '/_matrix/media/v3/download/a/b')).toBe('not counted');
    expect(lookups()).toBe(0);
  });

  test('count the users or devices of a request for keys, and let none through without a token', async () => {
    const { send } = open(rule('key_query', 'user', 10));
    const query = (users: number, devices: string[] = []) =>
      send('POST', `${CLIENT}/keys/query`, {
        token: 'nora',
        body: { device_keys: Object.fromEntries(Array.from({ length: users }, (_, n) => [`@u${n}:b`, devices])) },
      });
    expect(await send('POST', `${CLIENT}/keys/query`)).toBe(401);
    expect(await query(4)).toBe(200);
    expect(await query(1, ['A', 'B', 'C'])).toBe(200);
    expect(await query(4)).toBe('RuleExceeded');
    expect(await query(3)).toBe(200);
    expect(await query(0)).toBe('RuleExceeded');
  });

  test('take the whole limit for a request of more devices than that', async () => {
    const { send } = open(rule('key_claim', 'user', 5, 'costs = { key_claim = 2 }'));
    const claim = (token: string, count: number) => {
      const devices = Object.fromEntries(Array.from({ length: count }, (_, n) => [`D${n}`, 'x']));
      return send('POST', `${CLIENT}/keys/claim`, { token, body: { one_time_keys: { '@a:b': devices } } });
    };
    expect(await claim('nora', 1_000_000)).toBe(200);
    expect(await claim('nora', 1)).toBe('RuleExceeded');
    expect(await claim('ida', 2)).toBe(200);
    expect(await claim('ida', 1)).toBe('RuleExceeded');
  });

  test('count tokens sent to an address by all of its spellings, and none that the homeserver refuses', async () => {
    const { send, outcomes } = open(rule('request_token', 'recipient', 2));
    const ask = (email: string, status: number, medium = 'email', more = {}) =>
      send('POST', `${CLIENT}/account/password/${medium}/requestToken`, { body: { email, ...more }, status });
    for (const status of [400, 401, 403, 429]) expect(await ask('nora@b.example', status)).toBe(status);
    // The server of phone numbers reads no email address.
    expect(await ask('nora@b.example', 200, 'msisdn', { phone_number: '+49 170 1' })).toBe(200);
    expect(await ask('nora@b.example', 200)).toBe(200);
    // It may have been sent.
    expect(await ask('NORA@b.example', 502)).toBe(502);
    expect(await ask('Nora@B.example', 200)).toBe('RuleExceeded');
    expect(await ask('ida@b.example', 200)).toBe(200);
    expect(JSON.stringify(outcomes)).not.toMatch(/nora/i);
    expect(outcomes.filter((one) => one.startsWith('mine refused email:'))).toHaveLength(1);
  });

  test('count requests that need no token by their source, whatever their token is', async () => {
    const { send } = open(`[exemptions]\nusers = ["@root:b"]\n${rule('register_available', 'source', 2)}`);
    const ask = (token?: string, source = 'here') =>
      send('GET', `${CLIENT}/register/available?username=a`, { source, ...(token && { token }) });
    expect(await ask()).toBe(200);
    expect(await ask('x')).toBe(200);
    expect(await ask('y')).toBe('RuleExceeded');
    expect(await ask(undefined, 'there')).toBe(200);
    for (let i = 0; i < 3; i++) expect(await ask('root')).toBe(200);
  });

  test('count the requests and the bytes of downloads', async () => {
    const { send } = open(
      `${rule('download', 'source', 4)}${rule('download', 'user', 5, 'unit = "bytes"').replace('mine', 'bytes')}`,
    );
    const get = (path: string, token?: string) => send('GET', path, { ...(token && { token }) });
    const old = '/_matrix/media/v3/download/b/id';
    expect(await get('/_matrix/client/v1/media/download/b/id')).toBe(401);
    // Each request takes one byte before its response of two is known.
    expect(await get('/_matrix/client/v1/media/download/b/id', 'nora')).toBe(200);
    expect(await get('/_matrix/client/v1/media/thumbnail/b/id', 'nora')).toBe('RuleExceeded');
    expect(await get(old)).toBe(200);
    expect(await get(old)).toBe(200);
    expect(await get(old)).toBe('RuleExceeded');
  });

  test('report and refuse nothing in shadow', async () => {
    const { send, outcomes } = open(rule('user_directory', 'user', 1, 'shadow = true'));
    for (let i = 0; i < 3; i++)
      expect(await send('POST', `${CLIENT}/user_directory/search`, { token: 'nora' })).toBe(200);
    expect(outcomes).toEqual(['mine granted', 'mine shadow @nora:b', 'mine shadow @nora:b']);
  });

  describe('of the pages of an authentication service', () => {
    const login = (username: string) => `csrf=x&username=${encodeURIComponent(username)}&password=guess`;

    test('count wrong passwords of an account by all of its spellings, and a right one clears them', async () => {
      const { send, outcomes } = open(rule('auth_login', 'account', 2));
      const guess = (username: string, status = 200, source = 'here') =>
        send('POST', '/login?kind=x', { form: login(username), status, source });
      expect([await guess('nora'), await guess('@NORA:b.example', 200, 'there')]).toEqual([200, 200]);
      expect(await guess('Nora')).toBe('RuleExceeded');
      expect(outcomes.at(-1)).toBe('mine refused user:nora');
      expect([await guess('ida'), await guess('ida', 303), await guess('ida'), await guess('ida')]).toEqual([
        200, 303, 200, 200,
      ]);
      expect(await guess('ida')).toBe('RuleExceeded');
      // Refused before the password is verified, and services that are none.
      for (const status of [400, 404, 405, 422, 502]) expect(await guess('eve', status)).toBe(status);
      expect([await guess('eve@b.example'), await guess('EVE@b.example')]).toEqual([200, 200]);
      expect(await guess('eve@b.example', 303)).toBe('RuleExceeded');
      expect(await guess('eve', 303)).toBe(303);
    });

    test('leave out a rule by account for a form without one, and count it by its source', async () => {
      const byAccount = open(rule('auth_login', 'account', 1));
      for (const form of ['', 'username=', 'password=x', '\u0000\uffff', '{"username":"nora"}'])
        expect(await byAccount.send('POST', '/login', { form })).toBe(200);
      expect(byAccount.outcomes).toEqual([]);
      const bySource = open(rule('auth_login', 'source', 1));
      expect(await bySource.send('POST', '/login', { form: '' })).toBe(200);
      expect(await bySource.send('POST', '/login', { form: login('nora') })).toBe('RuleExceeded');
    });

    test('share the limit of an account with logins by its rule', async () => {
      const { send } = open(rule('auth_login", "login', 'account_source', 1));
      expect(await send('POST', '/login', { form: login('nora') })).toBe(200);
      expect(await send('POST', '/login', { form: login('nora') })).toBe('RuleExceeded');
      expect(await send('POST', '/login', { form: login('nora'), source: 'there' })).toBe(200);
    });

    test('count mails to an address, which no log has', async () => {
      const { send, outcomes } = open(rule('auth_recovery', 'recipient', 1));
      const recover = (email: string, status = 303) =>
        send('POST', '/recover', { form: `csrf=x&email=${encodeURIComponent(email)}`, status });
      expect([await recover('nora@b.example', 400), await recover('Nora@b.example')]).toEqual([400, 303]);
      expect(await recover('nora@B.example')).toBe('RuleExceeded');
      expect(await recover('ida@b.example')).toBe(303);
      expect(JSON.stringify(outcomes)).not.toMatch(/nora/i);
      // It names no address.
      expect(await send('POST', '/recover/progress/01', { form: 'csrf=x' })).toBe(200);
    });

    test.each([
      ['auth_registration', 'POST', '/register/password'],
      ['auth_registration', 'POST', '/register/steps/01/token'],
      ['auth_recovery', 'POST', '/recover/progress/01'],
      ['auth_api', 'POST', '/graphql'],
      ['oauth_token', 'POST', '/oauth2/token'],
      ['oauth_client', 'POST', '/oauth2/registration'],
      ['device_code', 'POST', '/oauth2/device'],
      ['device_link', 'GET', '/link?code=ABCDEF'],
    ])('count %s by source: %s %s', async (event, method, target) => {
      const { send } = open(rule(event, 'source', 1));
      expect(await send(method, target, { status: 400 })).toBe(400);
      expect(await send(method, target, { token: 'any' })).toBe('RuleExceeded');
      expect(await send(method, target, { source: 'there' })).toBe(200);
    });
  });

  test('return what the homeserver refuses to a budget of the server', async () => {
    const { send } = open(rule('rendezvous', 'server', 1));
    const create = (status: number, source = 'here') =>
      send('POST', '/_matrix/client/unstable/org.matrix.msc4108/rendezvous', { status, source });
    for (const status of [401, 403, 401]) expect(await create(status)).toBe(status);
    expect(await create(201)).toBe(201);
    expect(await create(201, 'there')).toBe('RuleExceeded');
  });
});

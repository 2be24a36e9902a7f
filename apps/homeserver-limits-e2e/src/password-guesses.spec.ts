import { LimitsProcess } from './testing/limits-process.js';
import { call, type Reply } from './testing/http-client.js';
import { freshAddress } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const WHOAMI = '/_matrix/client/v3/account/whoami';
const LOGIN = '/_matrix/client/v3/login';
const STAGE = 'm.login.password';
const RIGHT = 'right';

describe('passwords in the auth of other requests than logins', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  let victim: string;
  let victims = 0;

  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n`,
    );
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });
  beforeEach(() => {
    victim = `victim${++victims}`;
    upstream.requests.length = 0;
    upstream.respond = ({ url = '', headers }, response) => {
      const { auth, ...login } = JSON.parse(upstream.last.body.toString('utf8') || '{}') as Record<string, unknown>;
      const caller = headers.authorization?.slice('Bearer '.length);
      const [status, body] = answerTo(url, caller, (auth ?? login) as Record<string, unknown>);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
  });

  /** As Synapse answers: 401 for a wrong password of any account, 403 for the right one of another account. */
  function answerTo(url: string, caller: string | undefined, auth: Record<string, unknown>): [number, object] {
    if (url.startsWith(WHOAMI)) return [200, { user_id: `@${caller}:b.example`, device_id: 'D' }];
    if (url.startsWith(LOGIN) && !url.includes('token')) {
      return auth.password === RIGHT ? [200, {}] : [403, { errcode: 'M_FORBIDDEN' }];
    }
    if (url.endsWith('device_signing/upload') && auth.password === undefined) return [200, {}];
    if (auth.password !== RIGHT) return [401, { flows: [{ stages: [STAGE] }], session: 's', errcode: 'M_FORBIDDEN' }];
    return JSON.stringify(auth).includes(`"${caller}"`) ? [200, {}] : [403, { errcode: 'M_FORBIDDEN' }];
  }

  const logIn = (password: string) =>
    call(limits.url, 'POST', LOGIN, { body: { type: STAGE, user: victim, password }, from: freshAddress() });

  function guess(method: string, target: string, auth: object, token = 'eve'): Promise<Reply> {
    return call(limits.url, method, target, { token, body: { auth: { type: STAGE, ...auth } }, from: freshAddress() });
  }
  const named = (password: string) => ({ identifier: { type: 'm.id.user', user: victim }, password });

  const ENDPOINTS: [string, string][] = [
    ['POST', '/_matrix/client/v3/delete_devices'],
    ['POST', '/_matrix/client/r0/account/password'],
    ['POST', '/_matrix/client/v3/account/deactivate'],
    ['POST', '/_matrix/client/v3/account/3pid/add'],
    ['POST', '/_matrix/client/v3/keys/device_signing/upload'],
    ['POST', '/_matrix/client/unstable/keys/device_signing/upload'],
    ['POST', '/_matrix/client/v1/login/get_token'],
    ['POST', '/_matrix/client/v3/register'],
    ['DELETE', '/_matrix/client/v3/devices/OTHER'],
  ];

  test.each(ENDPOINTS)('count for the account that %s %s names, as failed logins do', async (method, target) => {
    for (let n = 0; n < 4; n++) expect((await guess(method, target, named('wrong'))).status).toBe(401);
    expect((await guess(method, target, { user: `@${victim}:b.example`, password: RIGHT })).status).toBe(403);
    const reached = upstream.countOf(target);
    const refused = await guess(method, target, named(RIGHT));
    expect([refused.status, refused.body.errcode]).toEqual([429, 'M_LIMIT_EXCEEDED']);
    expect(upstream.countOf(target)).toBe(reached);
    expect((await logIn(RIGHT)).status).toBe(429);
  });

  test('share one window over all endpoints', async () => {
    for (const [method, target] of ENDPOINTS.slice(0, 4)) await guess(method, target, named('wrong'));
    expect((await logIn('wrong')).status).toBe(403);
    expect((await guess(...ENDPOINTS[0]!, named('wrong'))).status).toBe(429);
  });

  test('count for the caller when no account is named', async () => {
    for (let n = 0; n < 5; n++) {
      expect((await guess(...ENDPOINTS[0]!, { password: 'wrong' }, victim)).status).toBe(401);
    }
    expect((await logIn(RIGHT)).status).toBe(429);
  });

  test('clear the failures of the caller who knows the password', async () => {
    for (let n = 0; n < 4; n++) await logIn('wrong');
    expect((await guess(...ENDPOINTS[0]!, named(RIGHT), victim)).status).toBe(200);
    for (let n = 0; n < 4; n++) expect((await logIn('wrong')).status).toBe(403);
  });

  test('clear nothing where the homeserver verified no password', async () => {
    for (let n = 0; n < 4; n++) await logIn('wrong');
    const target = '/_matrix/client/v3/keys/device_signing/upload';
    for (const token of ['eve', victim]) {
      const { password: _password, ...auth } = named('');
      expect((await guess('POST', target, auth, token)).status).toBe(200);
    }
    expect((await logIn('wrong')).status).toBe(403);
    expect((await logIn(RIGHT)).status).toBe(429);
  });

  test('verify exactly five of many parallel ones', async () => {
    const replies = await Promise.all(Array.from({ length: 40 }, () => guess(...ENDPOINTS[0]!, named('wrong'))));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(35);
  });

  test('leave other stages and requests without auth alone', async () => {
    for (let n = 0; n < 8; n++) {
      const body = n % 2 ? { devices: [] } : { auth: { type: 'm.login.sso', session: 's', user: victim } };
      const reply = await call(limits.url, 'POST', ENDPOINTS[0]![1], { token: 'eve', body });
      expect(reply.status).toBe(401);
    }
    expect((await logIn(RIGHT)).status).toBe(200);
  });
});

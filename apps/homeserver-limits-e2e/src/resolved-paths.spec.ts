import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { DECODED_PATH, isNginxInstalled, startNginx } from './testing/nginx-proxy.js';
import type { ProxyProgram } from './testing/proxy-program.js';

const SERVER = '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n';
const CLIENT = '/_matrix/client/v3';

/** Spellings of the login that a proxy which resolves escaped dot segments turns into it. */
const SPELLINGS = [
  'x/..%2flogin',
  'x%2f..%2flogin',
  '.%2flogin',
  'x/%2e%2e%2flogin',
  'x%2F%2E%2E%2Flogin',
  'x%2f%2f..%2flogin',
  'x%2fy%2f..%2f..%2flogin',
  'login%2f.',
];

/**
 * Spellings of the login for a proxy that forwards decoded paths, before the homeserver itself and before another
 * proxy.
 */
const TWICE_ESCAPED = ['%256cogin', 'lo%2567in', 'x%252f..%252flogin', 'x/%252e%252e%252flogin'];

const attempt = (base: string, path: string) =>
  call(base, 'POST', `${CLIENT}/${path}`, { body: { type: 'm.login.password', user: 'nora', password: 'guess' } });

async function verifications(homeserver: LimitsProcess): Promise<number> {
  const metrics = (await call(homeserver.url, 'GET', '/metrics')).bytes.toString('utf8');
  return Number(/^limits_password_verifications (\d+)$/m.exec(metrics)?.[1]);
}

(isNginxInstalled ? describe : describe.skip)(
  `a proxy that resolves paths behind the gateway${isNginxInstalled ? '' : ' (nginx is not installed)'}`,
  () => {
    let homeserver: LimitsProcess;
    let nginx: ProxyProgram;
    /** In front of the other one, and forwards decoded paths. */
    let decoding: ProxyProgram;
    let gateway: LimitsProcess;
    let behindTwo: LimitsProcess;
    let user: MatrixUser;
    beforeAll(async () => {
      homeserver = await LimitsProcess.start(`${SERVER}[ratelimit]\nenabled = false\n`);
      nginx = await startNginx(homeserver.url);
      decoding = await startNginx(nginx.url, DECODED_PATH);
      behindTwo = await LimitsProcess.start(`${SERVER}[gateway]\nupstream = "${decoding.url}"\n`);
      gateway = await LimitsProcess.start(`${SERVER}[gateway]\nupstream = "${nginx.url}"\n`);
      user = (await MatrixUser.register(homeserver.url)).through(gateway.url);
    });
    afterAll(async () => {
      await gateway.dispose();
      await behindTwo.dispose();
      await decoding.dispose();
      await nginx.dispose();
      await homeserver.dispose();
    });

    test.each(SPELLINGS)('resolves %s to the login', async (path) => {
      expect((await attempt(nginx.url, path)).body.errcode).toBe('M_FORBIDDEN');
    });

    test('gives no spelling of a login a way around its rates', async () => {
      const before = await verifications(homeserver);
      for (const path of SPELLINGS) {
        const { status, body } = await attempt(gateway.url, path);
        expect([status, body.errcode]).toEqual([404, 'M_UNRECOGNIZED']);
      }
      expect(await verifications(homeserver)).toBe(before);
    });

    test.each(TWICE_ESCAPED)('decodes %s to the login, with a second proxy', async (path) => {
      expect((await attempt(decoding.url, path)).body.errcode).toBe('M_FORBIDDEN');
    });

    test('gives no spelling that is escaped twice a way around the rates of logins', async () => {
      const before = await verifications(homeserver);
      for (const path of TWICE_ESCAPED) {
        const { status, body } = await attempt(behindTwo.url, path);
        expect([status, body.errcode]).toEqual([404, 'M_UNRECOGNIZED']);
      }
      expect(await verifications(homeserver)).toBe(before);
    });

    test('gives no spelling of a ring a way around its rate', async () => {
      const room = await user.createRoom();
      const type = 'm.rtc.notification';
      for (const path of [`x/..%2fsend/${type}`, `send/x%2f..%2f${type}`, `%2e%2fsend/${type}`]) {
        const target = `${CLIENT}/rooms/${encodeURIComponent(room)}/${path}/1`;
        expect((await user.call('PUT', target, {})).status).toBe(404);
      }
    });

    test('leaves paths alone that resolve to nothing bounded', async () => {
      expect((await user.call('GET', `${CLIENT}/x%2f..%2faccount/whoami`)).body.user_id).toBe(user.userId);
    });
  },
);

describe('the embedded homeserver', () => {
  let limits: LimitsProcess;
  beforeAll(async () => {
    limits = await LimitsProcess.start(SERVER);
  });
  afterAll(() => limits.dispose());

  test.each(SPELLINGS)('does not resolve %s', async (path) => {
    const before = await verifications(limits);
    expect((await attempt(limits.url, path)).status).toBe(404);
    expect(await verifications(limits)).toBe(before);
  });
});

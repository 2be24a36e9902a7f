import { LoginKeys } from '@headgate/login';
import type { Replica } from './replica.js';
import { ReplicaWorld } from './replicas.js';
import { until } from './until.js';

const START_MS = 60_000;
const KEY = 'x'.repeat(44);
const PASSWORD = 'correct horse battery';
const LOGIN = '/api/ext/login';

describe('the login of replicas', () => {
  let world: ReplicaWorld;
  let a: Replica;
  let b: Replica;
  let cookie: string;

  beforeAll(async () => {
    world = await ReplicaWorld.open({
      count: 2,
      program: 'service-process',
      simulation: { timeScale: 0 },
      config: (write) => ({ login: { keyFile: write('login-key', KEY) } }),
    });
    [a, b] = world.replicas as [Replica, Replica];
    const secret = new LoginKeys(Buffer.from(KEY)).of('first account').toString('base64url');
    cookie = cookieOf(await a.browse('POST', `${LOGIN}/first-account`, { secret, login: 'ann', password: PASSWORD }));
  }, START_MS);
  afterAll(() => world?.close());

  const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const statusOf = async (replica: Replica, session = cookie): Promise<number> =>
    (await replica.browse('GET', '/api/whoami', undefined, session)).status;
  const logIn = async (replica: Replica): Promise<string> =>
    cookieOf(await replica.browse('POST', `${LOGIN}/password`, { login: 'ann', password: PASSWORD }));

  test('accepts a session of one replica at the other one at once', async () => {
    expect(await statusOf(b)).toBe(200);
    for (let round = 0; round < 10; round++) {
      const [from, to] = round % 2 === 0 ? [a, b] : [b, a];
      expect(await statusOf(to, await logIn(from))).toBe(200);
    }
  });

  test('ends a session and its stream at all replicas within a second', async () => {
    const session = await logIn(a);
    const stream = await b.browse('GET', '/api/ext/journal/stream', undefined, session);
    expect(stream.status).toBe(200);
    const ended = (async () => {
      for await (const _part of stream.body ?? []) void _part;
      return performance.now();
    })();
    await a.browse('POST', `${LOGIN}/logout`, {}, session);
    const loggedOutAt = performance.now();
    expect((await ended) - loggedOutAt).toBeLessThan(1000);
    expect([await statusOf(a, session), await statusOf(b, session)]).toEqual([401, 401]);
  });

  test('refuses the other sessions everywhere after a change of the password, and keeps the own one', async () => {
    const [other, own] = [await logIn(a), await logIn(b)];
    const body = { current: PASSWORD, next: PASSWORD };
    const kept = cookieOf(await b.browse('POST', `${LOGIN}/own-password`, body, own));
    expect([await statusOf(a, kept), await statusOf(b, kept)]).toEqual([200, 200]);
    await until(async () => (await statusOf(a, other)) === 401 && (await statusOf(a, own)) === 401);
    cookie = kept;
  });

  test('lets an account of one replica log in at the other one, and forgets it everywhere', async () => {
    const created = await a.browse('POST', '/api/ext/accounts', { login: 'bob' }, cookie);
    const { secret } = (await created.json()) as { secret: string };
    await until(async () => {
      const { status } = await b.browse('POST', `${LOGIN}/setup`, { login: 'bob', secret, password: PASSWORD });
      return status === 200;
    });
    await until(async () => (await a.browse('DELETE', '/api/ext/accounts/bob', {}, cookie)).status === 200);
    await until(
      async () => (await b.browse('POST', `${LOGIN}/password`, { login: 'bob', password: PASSWORD })).status === 403,
    );
  });

  test('approves at one replica the program that waits at the other one', async () => {
    const begun = await a.browse('POST', `${LOGIN}/device`, { machine: 'laptop' });
    const { userCode, deviceCode } = (await begun.json()) as Record<'userCode' | 'deviceCode', string>;
    await until(async () => (await b.browse('POST', `${LOGIN}/device/approve`, { userCode }, cookie)).status === 200);
    let answer: { status: string; token?: string } = { status: '' };
    await until(async () => {
      answer = (await (await a.browse('POST', `${LOGIN}/device/token`, { deviceCode })).json()) as typeof answer;
      return answer.status === 'approved';
    });
    await world.untilStatus(200, '/api/whoami', answer.token ?? '');
  });

  test('writes the last use of a busy session at most once a minute', async () => {
    const session = await logIn(a);
    const writes = (): number => world.sandbox.requests.summary()['update servicesessions.svc.dev'] ?? 0;
    const before = writes();
    await Promise.all(Array.from({ length: 40 }, (_none, index) => statusOf(index % 2 ? a : b, session)));
    expect(writes()).toBe(before);
  });
});

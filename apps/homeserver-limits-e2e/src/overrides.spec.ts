import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';

const CONFIG = `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]
[operator]\nlisten = "127.0.0.1:0"\ntoken = "operator-token-0123"
[[rules]]\nname = "messages"\non = ["message"]\nby = "user"\nlimit = 2\nwindow = "1h"
[[rules]]\nname = "room_messages"\non = ["message"]\nby = "room"\nlimit = 6\nwindow = "1h"\n`;

describe('overrides of the operator', () => {
  let limits: LimitsProcess;
  let user: MatrixUser;
  let room: string;
  let last = 0;
  beforeAll(async () => {
    limits = await LimitsProcess.start(CONFIG);
    user = await MatrixUser.register(limits.url);
    room = await user.createRoom();
  });
  afterAll(() => limits?.dispose());

  const ask = (method: string, target: string, body?: object | string, token = 'operator-token-0123') =>
    call(limits.operatorUrl, method, target, {
      token,
      ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
    });
  const target = (rule: string, key: string) => `/overrides/${encodeURIComponent(rule)}?key=${encodeURIComponent(key)}`;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const send = async (by = user) =>
    (await by.through(limits.url).call('PUT', `/_matrix/client/v3/rooms/${room}/send/m.x/${++last}`, {})).status;
  const sendMany = async (count: number, by = user) => {
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push(await send(by));
    return statuses;
  };

  test('give one user another limit at once, which the others do not have', async () => {
    expect(await sendMany(3)).toEqual([200, 200, 429]);
    const set = await ask('PUT', target('messages', user.userId), { limit: 4, until, reason: 'moves a room' });
    expect([set.status, set.body]).toEqual([
      200,
      { rule: 'messages', key: user.userId, limit: 4, until, reason: 'moves a room' },
    ]);
    expect(await sendMany(3)).toEqual([200, 200, 429]);
    const window = await ask('GET', `/rates/messages?key=${encodeURIComponent(user.userId)}`);
    expect(window.body).toMatchObject({ counted: 4, limit: 4 });
    const { refusals } = (await ask('GET', '/refusals?rule=messages')).body;
    expect(refusals[0]).toMatchObject({ key: user.userId, limit: 4 });
    expect(await limits.logged(({ msg }) => msg === 'an override was set')).toMatchObject({ reason: 'moves a room' });
  });

  test('give one room a factor of all its rules', async () => {
    const other = await MatrixUser.register(limits.url);
    await user.call('POST', `/_matrix/client/v3/rooms/${room}/invite`, { user_id: other.userId });
    expect((await other.call('POST', `/_matrix/client/v3/join/${room}`)).status).toBe(200);
    expect((await ask('PUT', target('*', room), { factor: 0.5, until, reason: 'a flood' })).status).toBe(200);
    expect(await send(other)).toBe(429);
    expect((await ask('DELETE', target('*', room))).status).toBe(200);
    expect(await sendMany(3, other)).toEqual([200, 200, 429]);
  });

  test('give one user more or less of a cap', async () => {
    const set = (kind: string | null, key: string) =>
      user.through(limits.url).call('POST', '/_matrix/client/v3/pushers/set', {
        app_id: 'app',
        pushkey: key,
        kind,
        app_display_name: 'A',
        device_display_name: 'D',
        lang: 'en',
        data: { url: 'https://push.example/_matrix/push/v1/notify' },
      });
    expect((await ask('PUT', target('pushers', user.userId), { limit: 1, until, reason: 'one' })).status).toBe(200);
    expect((await ask('PUT', target('*', user.userId), { factor: 9, until, reason: 'no cap' })).status).toBe(200);
    expect((await set('http', 'a')).status).toBe(200);
    expect((await set('http', 'b')).body.errcode).toBe('M_LIMIT_EXCEEDED');
    expect((await ask('PUT', target('pushers', user.userId), { factor: 0.02, until, reason: '2' })).status).toBe(200);
    expect((await set('http', 'b')).status).toBe(200);
    expect((await set('http', 'c')).status).toBe(400);
    for (const rule of ['pushers', '*']) expect((await ask('DELETE', target(rule, user.userId))).status).toBe(200);
    expect((await set('http', 'c')).status).toBe(200);
    expect((await ask('PUT', target('pushers', room), { factor: 2, until, reason: 'x' })).status).toBe(400);
  });

  test('survive a kill, with their journal', async () => {
    await limits.end('SIGKILL');
    await limits.launch();
    const { overrides } = (await ask('GET', '/overrides')).body;
    expect(overrides).toEqual([{ rule: 'messages', key: user.userId, limit: 4, until, reason: 'moves a room' }]);
    const { journal } = (await ask('GET', '/overrides/journal?limit=2')).body;
    expect(journal.map(({ action, rule }: { action: string; rule: string }) => [action, rule])).toEqual([
      ['deleted', '*'],
      ['deleted', 'pushers'],
    ]);
    expect((await ask('DELETE', target('messages', user.userId))).body).toEqual({ rule: 'messages', key: user.userId });
    expect((await ask('DELETE', target('messages', user.userId))).status).toBe(404);
    expect((await ask('GET', '/overrides')).body).toEqual({ overrides: [] });
  });

  test('refuse invalid input, and are for the operator only', async () => {
    const path = target('messages', user.userId);
    const valid = { factor: 2, until, reason: 'x' };
    const invalid = [undefined, 'no', '[]', { ...valid, factor: 0 }, { ...valid, until: 'now' }, { factor: 2, until }];
    for (const body of invalid) expect((await ask('PUT', path, body)).status).toBe(400);
    expect((await ask('PUT', path, { ...valid, reason: 'x'.repeat(2_000) })).status).toBe(413);
    expect((await ask('PUT', '/overrides/messages', valid)).status).toBe(400);
    expect((await ask('PUT', target('messages', 'nora'), valid)).status).toBe(400);
    expect((await ask('PUT', target('unknown', user.userId), valid)).status).toBe(404);
    for (const token of ['', user.token]) {
      expect((await ask('PUT', path, valid, token)).status).toBe(401);
      expect((await ask('DELETE', path, undefined, token)).status).toBe(401);
      expect((await ask('GET', '/overrides', undefined, token)).status).toBe(401);
    }
    expect((await user.through(limits.url).call('PUT', path, valid)).status).toBe(404);
    expect((await ask('GET', '/overrides')).body).toEqual({ overrides: [] });
  });
});

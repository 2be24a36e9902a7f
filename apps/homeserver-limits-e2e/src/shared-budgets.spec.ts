import { once } from 'node:events';
import { request } from 'node:http';
import { call } from './testing/http-client.js';
import { MatrixUser } from './testing/matrix-user.js';
import { inBothModes } from './testing/modes.js';

const LIMIT = 5;
const RULES = `
[[rules]]
name = "room_messages"
on = ["message", "state"]
by = "room"
limit = ${LIMIT}
window = "1h"
costs = { state = 2 }

[operator]
listen = "127.0.0.1:0"
`;

inBothModes('a budget that callers share', RULES, (system) => {
  let member: MatrixUser;
  let stranger: MatrixUser;
  let room: string;
  beforeEach(async () => {
    const { url } = system();
    [member, stranger] = [await MatrixUser.register(url), await MatrixUser.register(url)];
    room = await member.createRoom();
  });

  const path = (rest: string) => `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/${rest}`;
  const send = (n: number, from = member) => from.call('PUT', path(`send/m.room.message/t${n}`), { body: 'x' });
  const used = async () => {
    const target = `/rates/room_messages?key=${encodeURIComponent(room)}`;
    return (await call(system().limits.operatorUrl, 'GET', target)).body as { counted: number; inFlight: number };
  };

  test('loses nothing to requests without a valid token, in a row or in parallel', async () => {
    const attempt = (token?: string) =>
      call(system().url, 'PUT', path('send/m.room.message/s'), { token, body: { body: 'x' } });
    const statuses = new Set<number>();
    for (let n = 0; n < 2 * LIMIT; n++) statuses.add((await attempt('invalid')).status);
    const parallel = await Promise.all(Array.from({ length: 20 }, (_, n) => attempt(n % 2 ? 'invalid' : undefined)));
    for (const { status } of parallel) statuses.add(status);
    expect([...statuses]).toEqual([401]);
    for (let n = 0; n < LIMIT; n++) expect((await send(n)).status).toBe(200);
    expect((await send(LIMIT)).status).toBe(429);
  });

  test('loses nothing to users who may not write, whatever the cost', async () => {
    for (let n = 0; n < LIMIT; n++) {
      expect((await send(n, stranger)).status).toBe(403);
      expect((await stranger.call('PUT', path('state/m.room.topic'), { topic: 'x' })).status).toBe(403);
    }
    expect((await member.call('PUT', path('state/m.room.topic'), { topic: 'x' })).status).toBe(200);
    expect(await used()).toMatchObject({ counted: 2, inFlight: 0 });
    for (let n = 2; n < LIMIT; n++) expect((await send(n)).status).toBe(200);
    expect((await send(LIMIT)).status).toBe(429);
  });

  test('is not held by requests whose body does not arrive', async () => {
    const slow = Array.from({ length: LIMIT }, (_, n) => {
      const headers = { Authorization: `Bearer ${stranger.token}`, 'Content-Length': '12', Expect: '100-continue' };
      const outgoing = request(`${system().url}${path(`send/m.room.message/slow${n}`)}`, { method: 'PUT', headers });
      outgoing.on('error', () => undefined);
      outgoing.flushHeaders();
      return outgoing;
    });
    await Promise.all(slow.map((one) => once(one, 'continue')));
    for (let n = 0; n < LIMIT; n++) expect((await send(n)).status).toBe(200);
    for (const one of slow) one.destroy();
  });
});

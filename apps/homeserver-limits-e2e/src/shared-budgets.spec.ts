import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { inEveryMode } from './testing/modes.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const LIMIT = 5;
const TEXT = { msgtype: 'm.text', body: 'x' };
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

inEveryMode('a budget that callers share', RULES, (system) => {
  let member: MatrixUser;
  let stranger: MatrixUser;
  let room: string;
  beforeEach(async () => {
    const { url } = system();
    [member, stranger] = [await MatrixUser.register(url), await MatrixUser.register(url)];
    room = await member.createRoom();
  });

  const path = (rest: string) => `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/${rest}`;
  const send = (n: number, from = member) => from.call('PUT', path(`send/m.room.message/t${n}`), TEXT);
  const used = async () => {
    const target = `/rates/room_messages?key=${encodeURIComponent(room)}`;
    return (await call(system().limits.operatorUrl, 'GET', target)).body as { counted: number; inFlight: number };
  };

  test('loses nothing to requests without a valid token, in a row or in parallel', async () => {
    const attempt = (token?: string) => call(system().url, 'PUT', path('send/m.room.message/s'), { token, body: TEXT });
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

describe('a budget that callers share, while the homeserver has not answered', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n${RULES}`,
    );
  });
  afterAll(async () => {
    await limits?.dispose();
    await upstream.close();
  });

  test('is held by one request of each user in a room', async () => {
    const held: ServerResponse[] = [];
    upstream.respond = ({ url = '', headers }, response) => {
      const user = headers.authorization?.slice('Bearer '.length) ?? '';
      if (url.endsWith('/whoami')) response.end(JSON.stringify({ user_id: `@${user}:b.example` }));
      else if (user === 'eve' && held.length === 0) held.push(response);
      else response.writeHead(user === 'eve' ? 403 : 200).end('{}');
    };
    const send = (token: string, n: number, room = '!r:b.example') =>
      call(limits.url, 'PUT', `/_matrix/client/v3/rooms/${room}/send/m.room.message/${token}${n}`, { token, body: {} });
    const sent = (token: string) =>
      upstream.countOf(`/_matrix/client/v3/rooms/!r:b.example/send/m.room.message/${token}`);
    const strangers = Array.from({ length: 20 }, (_, n) => send('eve', n));
    await until(() => held.length === 1);
    for (let n = 0; n < LIMIT - 1; n++) expect((await send('nora', n)).status).toBe(200);
    expect(sent('eve')).toBe(1);
    const refused = await send('nora', LIMIT);
    expect([refused.status, refused.body.retry_after_ms <= 1000]).toEqual([429, true]);
    expect((await send('eve', 0, '!other:b.example')).status).toBe(403);
    held[0]?.writeHead(403).end('{}');
    expect((await Promise.all(strangers)).map(({ status }) => status)).toEqual(Array(20).fill(403));
    expect((await send('nora', LIMIT)).status).toBe(200);
  });
});

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 60_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error('it did not come to hold');
    await new Promise((resume) => setImmediate(resume));
  }
}

import { inBothModes } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

const RULES = `
[exemptions]
users = ["@root:b.example"]
networks = ["203.0.113.0/24"]

[[rules]]
name = "messages"
on = ["message", "state"]
by = "user"
limit = 6
window = "1h"
costs = { state = 3 }

[[rules]]
name = "joins"
on = ["join"]
by = "user"
limit = 2
window = "1h"
algorithm = "gcra"

[[rules]]
name = "joins_of_room"
on = ["join"]
by = "room"
limit = 4
window = "1h"

[[rules]]
name = "invites"
on = ["invite"]
by = "user"
limit = 4
window = "1h"

[[rules]]
name = "invites_to_server"
on = ["invite"]
by = "target_server"
limit = 3
window = "1h"

[[rules]]
name = "rooms"
on = ["create_room"]
by = "user"
limit = 3
window = "1h"

[[rules]]
name = "volume"
on = ["upload"]
by = "user"
limit = 100000
window = "1d"
unit = "bytes"

[[rules]]
name = "registrations"
on = ["registration"]
by = "server"
limit = 40
window = "1h"
shadow = true

[[rules]]
name = "origins"
on = ["federation"]
by = "origin"
limit = 3
window = "1h"

[rates.login_account]
by = "account_source"
block = { after = 2, within = "1h", for = "30m", max = "1d" }

[operator]
listen = "127.0.0.1:0"
`;

inBothModes('rules', RULES, (system) => {
  let user: MatrixUser;
  let room: string;
  beforeEach(async () => {
    user = await MatrixUser.register(system().url);
    room = await user.createRoom({ preset: 'public_chat' });
  });

  const roomPath = (path: string, id = room) => `/_matrix/client/v3/rooms/${encodeURIComponent(id)}/${path}`;
  const refusal = { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: expect.any(Number) as number };
  const send = (n: number, from = user) => from.call('PUT', roomPath(`send/m.room.message/t${n}`), { body: 'x' });

  test('limit messages, with a cost per kind of event, and refuse as every rate does', async () => {
    for (let n = 0; n < 3; n++) expect((await send(n)).status).toBe(200);
    expect((await user.call('PUT', roomPath('state/m.room.topic'), { topic: 'x' })).status).toBe(200);
    const refused = await send(9);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject(refusal);
    const other = await MatrixUser.register(system().url);
    expect((await other.call('POST', roomPath('join'), {})).status).toBe(200);
    expect((await send(1, other)).status).toBe(200);
  });

  test.each([
    ['by room ID', 'POST', (id: string) => roomPath('join', id), undefined],
    ['by room ID or alias', 'POST', (id: string) => `/_matrix/client/v3/join/${encodeURIComponent(id)}`, undefined],
    [
      'as a state event',
      'PUT',
      (id: string, me: MatrixUser) => roomPath(`state/m.room.member/${encodeURIComponent(me.userId)}`, id),
      { membership: 'join' },
    ],
  ] as const)('limit joins, however they are requested (%s)', async (_how, method, path, body) => {
    const guest = await MatrixUser.register(system().url);
    const statuses = [];
    for (let n = 0; n < 3; n++) {
      const host = await MatrixUser.register(system().url);
      const id = await host.createRoom({ preset: 'public_chat' });
      statuses.push((await guest.call(method, path(id, guest), body ?? {})).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('count joins by ID, by alias and as state together, for a caller and for a room', async () => {
    const alias = `#${user.name}:b.example`;
    const directory = `/_matrix/client/v3/directory/room/${encodeURIComponent(alias)}`;
    expect((await user.call('PUT', directory, { room_id: room })).status).toBe(200);
    const byAlias = `/_matrix/client/v3/join/${encodeURIComponent(alias)}`;
    const asState = (guest: MatrixUser) => roomPath(`state/m.room.member/${encodeURIComponent(guest.userId)}`);
    const guest = await MatrixUser.register(system().url);
    expect((await guest.call('POST', byAlias, {})).status).toBe(200);
    expect((await guest.call('POST', roomPath('join'), {})).status).toBe(200);
    expect((await guest.call('PUT', asState(guest), { membership: 'join' })).status).toBe(429);
    expect((await guest.call('POST', byAlias, {})).status).toBe(429);
    const statuses = [];
    for (let n = 0; n < 3; n++) {
      const other = await MatrixUser.register(system().url);
      statuses.push((await other.call('POST', n % 2 ? roomPath('join') : byAlias, {})).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('limit invites by sender, including those of a new room and those sent as state', async () => {
    const invite = (n: number, server = `s${n}.example`) =>
      user.call('POST', roomPath('invite'), { user_id: `@i${n}:${server}` });
    expect((await invite(1)).status).toBe(200);
    expect(
      (await user.call('POST', '/_matrix/client/v3/createRoom', { invite: ['@a:c.example', '@b:d.example'] })).status,
    ).toBe(200);
    const target = encodeURIComponent('@c:e.example');
    expect((await user.call('PUT', roomPath(`state/m.room.member/${target}`), { membership: 'invite' })).status).toBe(
      200,
    );
    expect((await invite(2)).status).toBe(429);
  });

  test('limit invites to one server from all senders', async () => {
    const server = `${freshAddress().replaceAll('.', '-')}.example`;
    const statuses = [];
    for (let n = 0; n < 5; n++) {
      const sender = await MatrixUser.register(system().url);
      const id = await sender.createRoom();
      statuses.push((await sender.call('POST', roomPath('invite', id), { user_id: `@v${n}:${server}` })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  test('limit created rooms', async () => {
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await user.call('POST', '/_matrix/client/v3/createRoom', {})).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('count the room that replaces an upgraded one as created', async () => {
    const upgrade = () => user.call('POST', roomPath('upgrade'), { new_version: '11' });
    for (let n = 0; n < 2; n++) expect((await upgrade()).status).not.toBe(429);
    expect((await upgrade()).status).toBe(429);
    expect((await user.call('POST', '/_matrix/client/v3/createRoom', {})).status).toBe(429);
  });

  test('limit the volume of media in bytes, and count an upload of unknown length as the largest', async () => {
    const upload = (bytes: number) => user.call('POST', '/_matrix/media/v3/upload', Buffer.alloc(bytes));
    expect((await upload(60_000)).status).toBe(200);
    expect((await upload(40_001)).status).toBe(429);
    expect((await upload(40_000)).status).toBe(200);
    const other = await MatrixUser.register(system().url);
    const chunked = () =>
      fetch(`${system().url}/_matrix/media/v3/upload`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${other.token}` },
        body: new Blob(['small']).stream(),
        duplex: 'half',
      } as RequestInit);
    const first = await chunked();
    await first.arrayBuffer();
    const second = await chunked();
    await second.arrayBuffer();
    expect([first.status, second.status]).toEqual([200, 429]);
  });

  test('only report registrations of the whole server in shadow mode', async () => {
    for (let n = 0; n < 45; n++) await MatrixUser.register(system().url);
    const metrics = await call(system().limits.operatorUrl, 'GET', '/metrics');
    expect(metrics.bytes.toString('utf8')).toMatch(
      /limits_decisions_total\{rule="registrations",outcome="shadow_refused"\} [1-9]/,
    );
  });

  test('exempt a network from every rule and rate', async () => {
    const outside = await MatrixUser.register(system().url);
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const id = await outside.createRoom();
    for (let n = 0; n < 12; n++) {
      const target = roomPath(`send/m.rtc.notification/r${n}`, id);
      expect((await outside.call('PUT', target, { body: 'x' }, headers)).status).toBe(200);
    }
    const last = await outside.call('PUT', roomPath('send/m.room.message/x', id), { body: 'x' });
    expect(last.status).toBe(200);
  });

  test('do not let a stranger lock the owner out, and block those who keep guessing for longer', async () => {
    const login = (password: string, from: string) =>
      call(system().url, 'POST', '/_matrix/client/v3/login', {
        body: { type: 'm.login.password', identifier: { type: 'm.id.user', user: user.userId }, password },
        from,
      });
    const stranger = freshAddress();
    for (let n = 0; n < 5; n++) expect((await login('wrong', stranger)).status).toBe(403);
    expect((await login('wrong', stranger)).status).toBe(429);
    const blocked = await login('wrong', stranger);
    expect(blocked.status).toBe(429);
    expect(Number((blocked.body as { retry_after_ms: number }).retry_after_ms)).toBeGreaterThan(29 * 60_000);
    expect((await login(MatrixUser.password, freshAddress())).status).toBe(200);
  });

  test('count a server that only claims to be the origin for nothing', async () => {
    const statuses = [];
    for (let n = 0; n < 6; n++) {
      const authorization = 'X-Matrix origin="victim.example",destination="b.example",key="ed25519:1",sig="AAAA"';
      const reply = await call(system().url, 'PUT', `/_matrix/federation/v1/send/f${n}`, {
        body: { origin: 'victim.example', origin_server_ts: 1, pdus: [] },
        headers: { authorization },
      });
      statuses.push(reply.status);
    }
    expect(statuses).toEqual(Array<number>(6).fill(401));
  });
});

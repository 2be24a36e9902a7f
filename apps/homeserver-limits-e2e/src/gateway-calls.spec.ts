import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const ENDPOINT = '/_svc/rtc/media/sfu/get';
const USERINFO = '/_matrix/federation/v1/openid/userinfo?access_token=';
const ROOM = '!r:b.example';

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

describe('a gateway that serves the endpoint of the media service', () => {
  let upstream: RecordingUpstream;
  /** Another server, which the operator trusts to vouch for its users. */
  let peer: RecordingUpstream;
  let limits: LimitsProcess;
  /** The homeserver's response for the member of the room. */
  let member: [status: number, body: object];

  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    peer = await RecordingUpstream.listen();
    limits = await LimitsProcess.prepare('');
    const registration = join(limits.folder, 'calls.yaml');
    await writeFile(
      registration,
      'id: calls\nas_token: as-hunter2\nhs_token: h\nurl: null\nsender_localpart: calls\n' +
        'namespaces: {users: [{exclusive: false, regex: "@(?!outside).*:b\\\\.example"}]}\n',
    );
    await limits.configure(
      `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n` +
        `[rtc]\nurl = "wss://sfu.example"\nkey = "key"\nsecret = "rtc-hunter2"\nregistration = "${registration}"\n` +
        `trusted_servers = ["a.example"]\n[federation.peers]\n"a.example" = "${peer.url}"\n`,
    );
    await limits.launch();
  });
  afterAll(async () => {
    expect(JSON.stringify(limits.log)).not.toContain('hunter2');
    await limits.dispose();
    await upstream.close();
    await peer.close();
  });
  beforeEach(() => {
    member = [200, { membership: 'join' }];
    upstream.requests.length = 0;
    peer.requests.length = 0;
    peer.respond = ({ url = '' }, response) =>
      answer(response, 200, { sub: `@${url.slice(USERINFO.length)}:a.example` });
    upstream.respond = ({ url = '' }, response) => {
      if (!url.startsWith(USERINFO)) return answer(response, ...member);
      const user = url.slice(USERINFO.length);
      return user === 'dead'
        ? answer(response, 401, { errcode: 'M_UNKNOWN_TOKEN', error: 'no' })
        : answer(response, 200, { sub: `@${user}:b.example` });
    };
  });

  const ask = (token: string, server = 'b.example') =>
    call(limits.url, 'POST', ENDPOINT, {
      body: { room: ROOM, device_id: 'D', openid_token: { access_token: token, matrix_server_name: server } },
    });

  test('gives a member credentials for the call of the room, and looks up the membership as that user', async () => {
    const { status, body, headers } = await ask('nora');
    expect([status, body.url, headers['access-control-allow-origin']]).toEqual([200, 'wss://sfu.example', '*']);
    const [head = '', claims = '', signature] = body.jwt.split('.');
    expect(signature).toBe(createHmac('sha256', 'rtc-hunter2').update(`${head}.${claims}`).digest('base64url'));
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'key',
      sub: '@nora:b.example:D',
      video: { roomJoin: true, canPublish: true, canSubscribe: true },
    });
    expect(decodeURIComponent(upstream.last.target)).toBe(
      `/_matrix/client/v3/rooms/${ROOM}/state/m.room.member/@nora:b.example?user_id=@nora:b.example`,
    );
    expect(upstream.last.rawHeaders).toContain('Bearer as-hunter2');
    expect(upstream.countOf(ENDPOINT)).toBe(0);
  });

  test.each<[string, typeof member]>([
    ['has left', [200, { membership: 'leave' }]],
    ['is invited', [200, { membership: 'invite' }]],
    ['was never a member', [403, { errcode: 'M_FORBIDDEN', error: 'not in the room' }]],
    ['names an unknown room', [404, { errcode: 'M_NOT_FOUND', error: 'no such room' }]],
  ])('gives nothing to a user who %s', async (_what, lookup) => {
    member = lookup;
    const { status, body } = await ask('nora');
    expect([status, body.errcode]).toEqual([403, 'M_FORBIDDEN']);
  });

  test.each<[string, typeof member]>([
    ['fails', [500, { errcode: 'M_UNKNOWN', error: 'x' }]],
    ['does not know the application service', [401, { errcode: 'M_UNKNOWN_TOKEN', error: 'no' }]],
    ['rate-limits the gateway', [429, { errcode: 'M_LIMIT_EXCEEDED', error: 'slow down' }]],
  ])('gives nothing while the homeserver %s', async (_what, lookup) => {
    member = lookup;
    const { status, body } = await ask('nora');
    expect([status, body.errcode]).toEqual([502, 'M_UNKNOWN']);
  });

  test('gives nothing to a user outside the registration, and logs the reason', async () => {
    expect((await ask('outside')).status).toBe(502);
    const reason = 'rtc.registration does not include @outside:b.example';
    const line = await limits.logged((entry) => JSON.stringify(entry).includes(reason));
    expect(line.msg).toBe('the upstream failed');
  });

  test('accepts no token of another server, makes no request for it and counts nothing', async () => {
    for (let i = 0; i < 25; i++) {
      expect((await ask('nora', 'evil.example')).body.errcode).toBe('M_UNKNOWN_TOKEN');
      expect((await ask('dead')).body.errcode).toBe('M_UNKNOWN_TOKEN');
    }
    expect(upstream.countOf(`${USERINFO}nora`)).toBe(0);
  });

  test('counts every request with a live token, before the membership check', async () => {
    member = [403, { errcode: 'M_FORBIDDEN', error: 'x' }];
    for (let i = 0; i < 20; i++) expect((await ask('often')).status).toBe(403);
    upstream.requests.length = 0;
    const { status, body, headers } = await ask('often');
    expect([status, body.errcode]).toEqual([429, 'M_LIMIT_EXCEEDED']);
    expect(headers['retry-after']).toMatch(/^[0-9]+$/);
    expect(upstream.requests).toEqual([]);
  });

  describe('for users of a trusted server', () => {
    const NOT_SEEN = [403, { errcode: 'M_FORBIDDEN', error: 'not in the room' }] as const;
    const targets = () =>
      upstream.requests
        .map(({ target }) => decodeURIComponent(target))
        .filter((target) => target.includes('m.room.member'));
    const askFor = (room: string, token: string, server: string) =>
      call(limits.url, 'POST', ENDPOINT, {
        body: { room, device_id: 'D', openid_token: { access_token: token, matrix_server_name: server } },
      });
    const seenAs = (room: string, user: string, witness: string) =>
      `/_matrix/client/v3/rooms/${room}/state/m.room.member/${user}?user_id=${witness}`;

    test('verifies the token with that server, and the membership as a local member of the room', async () => {
      const room = '!with-local:b.example';
      expect((await askFor(room, 'olga', 'b.example')).status).toBe(200);
      const { status, body } = await askFor(room, 'rita', 'a.example');
      expect([status, body.url]).toEqual([200, 'wss://sfu.example']);
      const [, claims = ''] = body.jwt.split('.');
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ sub: '@rita:a.example:D' });
      expect(targets().at(-1)).toBe(seenAs(room, '@rita:a.example', '@olga:b.example'));
      expect(peer.requests.map(({ target }) => target)).toEqual([`${USERINFO}rita`]);
      member = [200, { membership: 'leave' }];
      expect((await askFor(room, 'rita', 'a.example')).status).toBe(403);
    });

    test('asks as the user of the application service when no local member is known', async () => {
      const room = '!without-local:b.example';
      expect((await askFor(room, 'rita', 'a.example')).status).toBe(200);
      expect(targets()).toEqual([seenAs(room, '@rita:a.example', '@calls:b.example')]);
    });

    test('gives nothing when no local user may see the room', async () => {
      const room = '!unseen:b.example';
      expect((await askFor(room, 'sam', 'b.example')).status).toBe(200);
      upstream.requests.length = 0;
      member = [...NOT_SEEN];
      const { status, body } = await askFor(room, 'rita', 'a.example');
      expect([status, body.errcode]).toEqual([403, 'M_FORBIDDEN']);
      expect(targets()).toEqual([
        seenAs(room, '@rita:a.example', '@sam:b.example'),
        seenAs(room, '@rita:a.example', '@calls:b.example'),
      ]);
    });

    test('does not let the server vouch for users of another one', async () => {
      peer.respond = (_request, response) => answer(response, 200, { sub: '@nora:b.example' });
      expect((await askFor(ROOM, 'forged', 'a.example')).body.errcode).toBe('M_UNKNOWN_TOKEN');
    });

    test('counts them like local users', async () => {
      for (let i = 0; i < 20; i++) expect((await askFor(ROOM, 'busy', 'a.example')).status).toBe(200);
      expect((await askFor(ROOM, 'busy', 'a.example')).status).toBe(429);
    });
  });

  test('asks the homeserver with the address and user agent of the caller', async () => {
    upstream.requests.length = 0;
    const body = {
      room: ROOM,
      device_id: 'D',
      openid_token: { access_token: 'agent', matrix_server_name: 'b.example' },
    };
    await call(limits.url, 'POST', ENDPOINT, { body, headers: { 'User-Agent': 'Element/1' } });
    expect(upstream.requests).toHaveLength(2);
    for (const { rawHeaders } of upstream.requests) {
      expect(rawHeaders).toEqual(expect.arrayContaining(['X-Forwarded-For', '127.0.0.1', 'User-Agent', 'Element/1']));
    }
  });

  test.each([[ENDPOINT], ['/_svc/rtc/media/get_token'], [`/${ENDPOINT}`]])(
    'responds to the preflight of %s',
    async (target) => {
      upstream.respond = (_request, response) => answer(response, 404, {});
      const { status, headers } = await call(limits.url, 'OPTIONS', target);
      expect([status, headers['access-control-allow-methods']]).toEqual([200, expect.stringContaining('POST')]);
      expect(upstream.requests).toEqual([]);
    },
  );
});

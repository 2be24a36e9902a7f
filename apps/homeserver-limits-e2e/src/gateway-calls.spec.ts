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

describe('a gateway that answers for the media service', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  /** What the homeserver says about the member of the room. */
  let member: [status: number, body: object];

  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.prepare('');
    const registration = join(limits.folder, 'calls.yaml');
    await writeFile(
      registration,
      'id: calls\nas_token: as-hunter2\nhs_token: h\nurl: null\nsender_localpart: calls\n' +
        'namespaces: {users: [{exclusive: false, regex: "@(?!outside).*:b\\\\.example"}]}\n',
    );
    await limits.configure(
      `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\ntimeout_ms = 700\n` +
        `[rtc]\nurl = "wss://sfu.example"\nkey = "key"\nsecret = "rtc-hunter2"\nregistration = "${registration}"\n`,
    );
    await limits.launch();
  });
  afterAll(async () => {
    expect(JSON.stringify(limits.log)).not.toContain('hunter2');
    await limits.dispose();
    await upstream.close();
  });
  beforeEach(() => {
    member = [200, { membership: 'join' }];
    upstream.requests.length = 0;
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

  test('gives a member what lets him into the call of the room, and asks for him as himself', async () => {
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
    expect(upstream.asked(ENDPOINT)).toBe(0);
  });

  test.each<[string, typeof member]>([
    ['has left', [200, { membership: 'leave' }]],
    ['is invited', [200, { membership: 'invite' }]],
    ['was never there', [403, { errcode: 'M_FORBIDDEN', error: 'not in the room' }]],
    ['asks for a room that is none', [404, { errcode: 'M_NOT_FOUND', error: 'no such room' }]],
  ])('gives nothing to somebody who %s', async (_what, answered) => {
    member = answered;
    const { status, body } = await ask('nora');
    expect([status, body.errcode]).toEqual([403, 'M_FORBIDDEN']);
  });

  test.each<[string, typeof member]>([
    ['fails', [500, { errcode: 'M_UNKNOWN', error: 'x' }]],
    ['does not know the application service', [401, { errcode: 'M_UNKNOWN_TOKEN', error: 'no' }]],
    ['has had enough', [429, { errcode: 'M_LIMIT_EXCEEDED', error: 'slow down' }]],
  ])('gives nothing while the homeserver %s', async (_what, answered) => {
    member = answered;
    const { status, body } = await ask('nora');
    expect([status, body.errcode]).toEqual([502, 'M_UNKNOWN']);
  });

  test('gives nothing to a user for whom the registration does not speak, and says in the log that this is why', async () => {
    expect((await ask('outside')).status).toBe(502);
    const reason = 'rtc.registration does not speak for @outside:b.example';
    const line = await limits.logged((entry) => JSON.stringify(entry).includes(reason));
    expect(line.msg).toBe('the upstream failed');
  });

  test('takes no token of another server, asks nobody about it and counts nothing', async () => {
    for (let i = 0; i < 25; i++) {
      expect((await ask('nora', 'evil.example')).body.errcode).toBe('M_UNKNOWN_TOKEN');
      expect((await ask('dead')).body.errcode).toBe('M_UNKNOWN_TOKEN');
    }
    expect(upstream.asked(`${USERINFO}nora`)).toBe(0);
  });

  test('counts every request with a live token, before it looks at the room', async () => {
    member = [403, { errcode: 'M_FORBIDDEN', error: 'x' }];
    for (let i = 0; i < 20; i++) expect((await ask('often')).status).toBe(403);
    upstream.requests.length = 0;
    const { status, body, headers } = await ask('often');
    expect([status, body.errcode]).toEqual([429, 'M_LIMIT_EXCEEDED']);
    expect(headers['retry-after']).toMatch(/^[0-9]+$/);
    expect(upstream.requests).toEqual([]);
  });

  test.each([[ENDPOINT], ['/_svc/rtc/media/get_token'], [`/${ENDPOINT}`]])(
    'answers a browser that asks first, at %s',
    async (target) => {
      upstream.respond = (_request, response) => answer(response, 404, {});
      const { status, headers } = await call(limits.url, 'OPTIONS', target);
      expect([status, headers['access-control-allow-methods']]).toEqual([200, expect.stringContaining('POST')]);
      expect(upstream.requests).toEqual([]);
    },
  );
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const WHOAMI = '/_matrix/client/v3/account/whoami';
const FILTER = '/_matrix/client/v3/user/@nora:b.example/filter';
const LOGIN = '/_matrix/client/v3/login';
const MAIL = '/_matrix/client/v3/register/email/requestToken';

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

describe('a caller who hangs up before the response', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  /** Receives each request that waits for its response. */
  let arrived: (response: ServerResponse) => void;

  beforeEach(async () => {
    upstream = await RecordingUpstream.listen();
    upstream.respond = ({ url }, response) => {
      if (url === WHOAMI) return json(response, 200, { user_id: '@nora:b.example', device_id: 'D' });
      if (url === FILTER || url === LOGIN || url === MAIL) return arrived(response);
      json(response, 200, {});
    };
    const bounds =
      '[limits]\nfilters_per_user = 1\n' +
      '[[rules]]\nname = "mails"\non = ["request_token"]\nby = "recipient"\nlimit = 1\nwindow = "1h"\n';
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n${bounds}`,
    );
  });
  afterEach(async () => {
    await limits.dispose();
    await upstream.close();
  });

  /** Sends a request, hangs up when the upstream has received it, and then lets the upstream respond. */
  async function hangUp(target: string, body: object, status: number, answer: object): Promise<void> {
    const { hostname, port } = new URL(limits.url);
    const socket = connect(Number(port), hostname);
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    arrived = resolve;
    const text = JSON.stringify(body);
    socket.write(
      `POST ${target} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer t\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    const response = await promise;
    const answered = once(response, 'close');
    socket.destroy();
    await once(socket, 'close');
    // Another request through the same gateway: by its response the gateway has noticed that the first caller is gone.
    await call(limits.url, 'GET', '/_matrix/client/versions');
    json(response, status, answer);
    await answered;
    // By this one, it has read what the upstream responded before.
    await call(limits.url, 'GET', '/_matrix/client/versions');
  }

  // The relay does not take a request with TE, so that Node's server handles the second one.
  test.each([
    ['GET', ''],
    ['GET', 'TE: trailers\r\n'],
  ])('is no failure of the upstream (%s, %j)', async (method, headers) => {
    upstream.respond = ({ url }, response) =>
      url === '/_matrix/waiting' ? arrived(response) : json(response, 200, {});
    const { hostname, port } = new URL(limits.url);
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    arrived = resolve;
    const socket = connect(Number(port), hostname);
    socket.write(`${method} /_matrix/waiting HTTP/1.1\r\nHost: b\r\n${headers}\r\n`);
    const response = await promise;
    const aborted = once(response, 'close');
    socket.destroy();
    await aborted;
    const metrics = (await call(limits.url, 'GET', '/metrics')).bytes.toString();
    expect(metrics).toContain('limits_upstream_failures_total{status="502"} 0');
  });

  const createFilter = async (limit: number) => {
    arrived = (response) => json(response, 200, { filter_id: `f${limit}` });
    return (await call(limits.url, 'POST', FILTER, { body: { room: { timeline: { limit } } }, token: 't' })).status;
  };

  test('still holds what the upstream accepted', async () => {
    await hangUp(FILTER, { room: { timeline: { limit: 1 } } }, 200, { filter_id: 'f1' });
    expect(await createFilter(2)).toBe(400);
  });

  test('gets the reservation back when the upstream then refuses', async () => {
    await hangUp(FILTER, { room: { timeline: { limit: 1 } } }, 500, { errcode: 'M_UNKNOWN', error: 'x' });
    while ((await createFilter(2)) === 400);
    expect(await createFilter(3)).toBe(400);
  });

  test('uses up the budget of a recipient only with a mail that the upstream accepts', async () => {
    const body = { email: 'nora@mail.example', client_secret: 'x' };
    await hangUp(MAIL, body, 400, { errcode: 'M_THREEPID_IN_USE', error: 'x' });
    await hangUp(MAIL, body, 200, { sid: '1' });
    expect((await call(limits.url, 'POST', MAIL, { body })).status).toBe(429);
    expect(upstream.countOf(MAIL)).toBe(2);
  });

  test('has still used up an attempt at a password', async () => {
    const body = { type: 'm.login.password', identifier: { type: 'm.id.user', user: 'victim' }, password: 'x' };
    for (let i = 0; i < 5; i++) await hangUp(LOGIN, body, 403, { errcode: 'M_FORBIDDEN', error: 'x' });
    arrived = (response) => json(response, 403, { errcode: 'M_FORBIDDEN', error: 'x' });
    expect((await call(limits.url, 'POST', LOGIN, { body })).status).toBe(429);
    expect(upstream.countOf(LOGIN)).toBe(5);
  });
});

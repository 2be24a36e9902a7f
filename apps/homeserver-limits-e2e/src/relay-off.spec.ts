import { ByteUpstream, json, type ReceivedRequest } from './testing/byte-upstream.js';
import { LimitsProcess } from './testing/limits-process.js';
import { rawExchange } from './testing/raw-exchange.js';

/** Headers of one connection, of the framing of a body, and of the time. */
const NOT_COMPARED = /^(?:connection|keep-alive|date|content-length|transfer-encoding):/i;
const SEND = '/_matrix/client/v3/rooms/!r:b.example/send';

const request = (method: string, target: string, headers: string[] = [], body = '') => {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`];
  const lines = ['Host: b.example', 'Authorization: Bearer t', ...headers, ...length, 'Connection: close'];
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
};

function parsed(response: string) {
  const [head = '', body = ''] = response.split(/\r\n\r\n(.*)/s, 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  // Without the reason, which Node's server does not pass on.
  const status = Number(statusLine.split(' ')[1]);
  const isChunked = lines.some((line) => /^transfer-encoding: chunked$/i.test(line));
  const headers = lines.filter((line) => !NOT_COMPARED.test(line)).map((line) => line.replace(/: */, ': '));
  const text = isChunked ? body.replace(/[0-9a-f]+\r\n|\r\n/g, '') : body;
  return { status, headers: headers.sort(), body: text.replace(/("retry_after_ms":)\d+/, '$1…') };
}

function respond({ method, target, body }: ReceivedRequest): string {
  if (target.includes('whoami')) return json(200, { user_id: '@a:b.example', device_id: 'D' });
  if (target.includes('login')) return json(403, { errcode: 'M_FORBIDDEN', error: 'no' });
  if (target.includes('refused')) return json(401, { errcode: 'M_UNKNOWN_TOKEN', error: 'no' });
  if (target.includes('empty')) return 'HTTP/1.1 204 No Content\r\n\r\n';
  if (target.includes('invalid')) return '220 smtp\r\n\r\n';
  if (target.includes('chunks')) return 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
  if (method === 'HEAD') return 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
  return json(200, { method, target, body }, 'X-Odd:a\r\nX-Odd: b\r\n');
}

describe('the gateway with and without the relay', () => {
  let upstream: ByteUpstream;
  let relaying: LimitsProcess;
  let plain: LimitsProcess;
  beforeAll(async () => {
    upstream = await ByteUpstream.listen();
    upstream.respond = (socket, asked) => socket.write(respond(asked));
    const start = (relay: boolean) =>
      LimitsProcess.start(
        `[server]\nname = "b.example"\n[ratelimit]\nrings_per_minute = 1\n[gateway]\nupstream = "${upstream.url}"\nrelay = ${relay}\n`,
      );
    [relaying, plain] = [await start(true), await start(false)];
  });
  afterAll(async () => {
    await relaying?.dispose();
    await plain?.dispose();
    await upstream.close();
  });

  test('passes header lines on as received with it, and as Node writes them without it', async () => {
    const versions = request('GET', '/_matrix/client/versions');
    expect(await rawExchange(relaying.url, versions)).toContain('\r\nX-Odd:a\r\n');
    const received = await rawExchange(plain.url, versions);
    expect(received).toContain('\r\nX-Odd: a\r\n');
    expect(received).not.toContain('X-Odd:a');
  });

  test.each([
    ['a request without a bound', 200, request('GET', '/_matrix/client/v3/sync?since=s1&timeout=0')],
    ['a request with a body', 200, request('POST', '/_synapse/other', ['X-A: 1', 'X-a: 2'], '{"a": 1.0}')],
    ['an event', 200, request('PUT', `${SEND}/m.room.message/1`, ['Content-Type: application/json'], '{"body":"x"}')],
    ['chunks', 200, request('POST', '/x', ['Transfer-Encoding: chunked']) + '2\r\n{}\r\n0\r\n\r\n'],
    ['a chunked response', 200, request('GET', '/chunks')],
    ['HEAD', 200, request('HEAD', '/x')],
    ['a response without a body', 204, request('DELETE', '/empty')],
    ['a token that the homeserver refuses', 401, request('GET', '/refused')],
    ['a response that is invalid', 502, request('GET', '/invalid')],
    ['a failed login', 403, request('POST', '/_matrix/client/v3/login', [], '{"type":"m.login.password","user":"a"}')],
    ['the first ring', 200, request('PUT', `${SEND}/m.rtc.notification/1`, [], '{}')],
    ['one ring too many', 429, request('PUT', `${SEND}/m.rtc.notification/2`, [], '{}')],
    ['a preflight', 200, request('OPTIONS', '/_matrix/client/v3/x', ['Origin: https://a.example'])],
    ['an ambiguous path', 404, request('POST', '/_matrix/client/v3/x/..%2flogin')],
    ['no HTTP', 400, 'HELO b.example\r\n\r\n'],
  ])('answers %s alike, and sends the homeserver the same', async (_what, status, bytes) => {
    const run = async ({ url }: LimitsProcess) => {
      upstream.asked.length = 0;
      const response = parsed(await rawExchange(url, bytes));
      return { response, asked: [...upstream.asked] };
    };
    const relayed = await run(relaying);
    expect(await run(plain)).toEqual(relayed);
    expect(relayed.response.status).toBe(status);
  });
});

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { ENDING, get, OK, type RelayFixture, statusesOf } from '@headgate/http-relay/testing';
import { type GatewayRelayFixture, openGatewayRelay } from './testing/gateway-relay-fixture.js';

describe('GatewayRelay', () => {
  let opened: GatewayRelayFixture;
  let fixture: RelayFixture;
  let upstream: RelayFixture['upstream'];
  let byNode: RelayFixture['byNode'];
  let answers: RelayFixture['answers'];

  beforeEach(async () => {
    opened = await openGatewayRelay();
    ({ fixture } = opened);
    ({ upstream, byNode, answers } = fixture);
  });
  afterEach(() => fixture.close());

  test('changes the headers of the connection and of the way, and no others', async () => {
    const headers =
      'X-Forwarded-For: 1.1.1.1\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\nX-Forwarded-Proto: https\r\n';
    await fixture.exchange(get('/a?b=%20', `Cookie: a=b\r\n${headers}Keep-Alive: 5\r\nConnection: close\r\n`));
    fixture.isTrusted = true;
    await fixture.exchange(get('/a', `${headers}Connection: close\r\n`));
    expect(upstream.heads).toEqual([
      'GET /a?b=%20 HTTP/1.1\r\nHost: b\r\nCookie: a=b\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nConnection: keep-alive\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: b\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 1.1.1.1, 127.0.0.1\r\nConnection: keep-alive\r\n\r\n',
    ]);
    expect(opened.ignored).toEqual(['127.0.0.1']);
  });

  test('leaves to the upstream which web pages may read a response', async () => {
    expect(await fixture.exchange(ENDING)).not.toContain('Access-Control');
  });

  test('aborts a request whose caller hangs up, but not one that a bound has let through', async () => {
    const hangUp = async (target: string) => {
      const socket = fixture.dial();
      const { promise, resolve } = Promise.withResolvers<Socket>();
      upstream.respond = (peer) => resolve(peer);
      socket.write(`PUT ${target} HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}`);
      const peer = await promise;
      socket.destroy();
      return peer;
    };
    await once(await hangUp('/unknown'), 'close');
    expect(answers).toEqual([]);
    const kept = await hangUp('/_matrix/client/v3/rooms/!r:b/send/m.x/1');
    // Another exchange on another connection: the hang-up has arrived by its end.
    upstream.respond = (peer) => peer.write(OK);
    await fixture.exchange(ENDING);
    expect(kept.destroyed || kept.readableEnded).toBe(false);
    kept.write(OK);
    await once(kept, 'close');
    expect(answers).toHaveLength(2);
  });

  test('forgets a token that the upstream does not accept', async () => {
    upstream.respond = (socket) => socket.write('HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n');
    await fixture.exchange(get('/a', 'Authorization: Bearer header\r\n') + get('/a?access_token=query') + ENDING);
    await fixture.exchange(get('/a?access_token=other', 'Authorization: Bearer one\r\nConnection: close\r\n'));
    expect(opened.forgotten).toEqual(['header', 'query']);
  });

  test.each([
    ['closes the connection', (socket: Socket) => socket.destroy(), 502],
    ['is silent', () => undefined, 504],
    ['responds with something else', (socket: Socket) => socket.write('220 smtp\r\n\r\n'), 502],
    ['switches protocols', (socket: Socket) => socket.write('HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n'), 502],
    ['sends a head without end', (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`), 502],
  ])('responds with an error of Matrix and logs it if the upstream %s', async (_what, fault, status) => {
    // Only silence waits for the timeout: a busy machine must not reach it with the other faults.
    if (status === 504) fixture.timeoutMs = 300;
    upstream.respond = fault;
    const received = await fixture.exchange(ENDING.replace('GET /last', 'POST /last?access_token=secret'));
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received).toContain('"errcode":"M_UNKNOWN"');
    expect(answers).toEqual([['forwarded', status]]);
    expect(opened.logged).toEqual([{ err: expect.objectContaining({ status }), path: '/last' }]);
  });

  test('gives a long poll the time that it asks for', async () => {
    fixture.timeoutMs = 300;
    upstream.respond = (socket) => void setTimeout(() => socket.write(OK), 900);
    const received = await fixture.exchange(get('/_matrix/client/v3/sync?timeout=60000', 'Connection: close\r\n'));
    expect(statusesOf(received)).toEqual(['200']);
    expect(answers).toEqual([['long_poll', undefined]]);
  });

  test.each([
    ['a request that a rule counts', get('/ruled')],
    ['a login', 'POST /_matrix/client/v3/login HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}'],
    ['an upload', 'POST /_matrix/media/v3/upload HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}'],
    ['the metrics', get('/metrics')],
    ['an ambiguous path', 'POST /_matrix/client/v3/x/..%2flogin HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\n\r\n'],
    ['a preflight that the gateway may answer', get('/_svc/rtc/media/sfu/get').replace('GET', 'OPTIONS')],
    [
      'a form that would be read as JSON',
      'PUT /_matrix/client/v3/rooms/!r:b/send/m.x/1 HTTP/1.1\r\nHost: b\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}',
    ],
  ])('leaves %s to the server of Node', async (_what, text) => {
    await fixture.exchange(text + ENDING);
    expect(byNode).toHaveLength(1);
    expect(upstream.heads.map((head) => head.split(' ', 2)[1])).toEqual(['/last']);
  });
});

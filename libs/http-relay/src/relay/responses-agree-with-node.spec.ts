import { type IncomingMessage, request } from 'node:http';
import { FUZZ_SEED, randomNumbers } from '../testing/random.js';
import { RelayFixture } from '../testing/relay-fixture.js';
import { HOP_BY_HOP } from './forwarded-headers.js';

const RESPONSES = 1_000;
const BATCH = 25;

/** A response as Node's client understood it. */
interface Reading {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** What the relay or Node adds, and what frames the body. */
const NOT_COMPARED = new Set([...HOP_BY_HOP, 'content-length', 'date']);

const LINES = [
  ...['X: 1', 'X:  1', 'X: 1 ', 'X\t: 1', 'X : 1', ': 1', 'X: \x01', 'X: \x7f', 'X: \x80', 'X:', 'no colon', ' folded'],
  ...['Content-Length: 3', 'Content-Length: 03', 'Content-Length: 2', 'Content-Length: 5', 'content-length: 0'],
  ...['Content-Length: 3, 3', 'Content-Length: +3', 'Content-Length : 3', 'Content-Length: -1', 'Content-Length:'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'transfer-encoding: identity'],
  ...['Connection: close', 'Connection: keep-alive', 'Connection: X-Other', 'Connection: Content-Length', 'Upgrade: x'],
];

const PIECES = [
  ...LINES,
  ...['HTTP/1.1 200 OK', 'HTTP/1.0 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 204 X', 'HTTP/1.1 304 X', 'HTTP/1.1 101 X'],
  ...['HTTP/1.1 20 X', 'HTTP/1.1 2000 X', 'HTTP/2.0 200 X', 'http/1.1 200 X', 'HTTP/1.1  200 X', 'HTTP/1.1 200 \xe9'],
  ...['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 X\r\nLink: x\r\n\r\n', 'HTTP/1.1 502 X', '220 smtp', ''],
  ...['\r\n', '\n', '\r', '\r\n\r\n', '\n\n', '\r\n ', ' ', '\t', '\0', ':', 'abc', '{}'],
  ...['3\r\nabc\r\n0\r\n\r\n', '3;a=b\r\nabc\r\n', '0\r\n\r\n', '0\r\nX: y\r\n\r\n', 'g\r\n', '3\nabc\n', '-1\r\n'],
];

const HEADERS = [
  ['Content-Length: 3', 'abc'],
  ['Transfer-Encoding: chunked', '2\r\nab\r\n1\r\nc\r\n0\r\n\r\n'],
  ['X: y', 'abc'],
] as const;

/** A sound response with up to three lines of its head added, or pieces put in, taken out or replaced. */
function randomResponse(below: (limit: number) => number): Buffer {
  const [framing, body] = HEADERS[below(HEADERS.length)] ?? HEADERS[0];
  const parts = ['HTTP/1.1 200 OK', '\r\n', 'X-First: a', '\r\n', framing, '\r\n', '\r\n', body];
  for (let changes = below(4); changes > 0; changes--) {
    const piece = PIECES[below(PIECES.length)] ?? '';
    const kind = below(6);
    if (kind >= 3) parts.splice(2 * below(3) + 2, 0, LINES[below(LINES.length)] ?? '', '\r\n');
    else if (kind === 0) parts.splice(below(parts.length), 0, piece);
    else if (kind === 1) parts.splice(below(parts.length), 1, piece);
    else parts.splice(below(parts.length), 1);
  }
  return Buffer.from(parts.join(''), 'latin1');
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const bytes of response) body += (bytes as Buffer).toString('latin1');
  if (!response.complete) throw new Error('the response broke off');
  return body;
}

/**
 * Sends a request to a port, and reads its response with Node's client. `invalid`: it can't be parsed. `broken`: it
 * broke off.
 */
function read(port: number, method: string, path: string): Promise<Reading | 'invalid' | 'broken'> {
  const { promise, resolve } = Promise.withResolvers<Reading | 'invalid' | 'broken'>();
  const outgoing = request({ host: '127.0.0.1', port, method, path, agent: false });
  let received: IncomingMessage | undefined;
  outgoing.once('response', (response) => {
    received = response;
    const { statusCode: status = 0, rawHeaders } = response;
    const headers = rawHeaders.flatMap((name, at) =>
      at % 2 === 1 || NOT_COMPARED.has(name.toLowerCase()) ? [] : [`${name}: ${rawHeaders[at + 1]}`],
    );
    bodyOf(response).then(
      (body) => resolve({ status, headers, body }),
      () => resolve('broken'),
    );
  });
  outgoing.once('upgrade', (_response, socket) => {
    socket.destroy();
    resolve('invalid');
  });
  // Bytes after a whole response are an error of the connection, not of the response.
  outgoing.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (!received?.complete) resolve(code?.startsWith('HPE') ? 'invalid' : 'broken');
  });
  outgoing.end();
  return promise;
}

/** The answer of the relay itself. One to HEAD has no body. */
const isRefusal = (reading: Reading | 'invalid'): boolean =>
  reading !== 'invalid' && reading.status === 502 && ['failed', ''].includes(reading.body);

describe('a client reads a response of the upstream through the relay as without it, or as a failure', () => {
  let fixture: RelayFixture;
  let responses: Buffer[];
  beforeEach(async () => {
    fixture = await RelayFixture.open();
    responses = [];
    fixture.upstream.respond = (socket, text) => {
      const index = /^[A-Z]+ \/(\d+) /.exec(text)?.[1];
      socket.end(responses[Number(index)] ?? '');
    };
  });
  afterEach(() => fixture.close());

  test(`${RESPONSES} responses, seed ${FUZZ_SEED}`, async () => {
    const below = randomNumbers(FUZZ_SEED);
    responses = Array.from({ length: RESPONSES }, () => randomResponse(below));
    let passed = 0;
    for (let from = 0; from < RESPONSES; from += BATCH) {
      await Promise.all(
        responses.slice(from, from + BATCH).map(async (bytes, offset) => {
          const method = below(8) === 0 ? 'HEAD' : 'GET';
          const path = `/${from + offset}`;
          const relayed = await read(fixture.port, method, path);
          if (relayed === 'broken' || isRefusal(relayed)) return;
          const seen = `${method} ${JSON.stringify(bytes.toString('latin1'))}`;
          expect([seen, relayed]).not.toEqual([seen, 'invalid']);
          expect([seen, relayed]).toEqual([seen, await read(fixture.upstream.port, method, path)]);
          passed++;
        }),
      );
    }
    // Most of them are sound: the comparison is not empty.
    expect(passed).toBeGreaterThan(RESPONSES / 4);
  }, 120_000);
});

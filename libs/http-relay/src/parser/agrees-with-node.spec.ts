import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { FUZZ_SEED, randomNumbers } from '../testing/random.js';
import { readRequestHead } from './http-head.js';

/** A message as one of the two readers understood it. */
interface Reading {
  method: string;
  target: string;
  headers: readonly string[];
  body: string;
}

const STREAMS = 1_000;

const END = Buffer.from('\r\n\r\n');

/** The requests that the relay would take from a stream, up to the first one that it leaves to Node's server. */
function readByRelay(stream: Buffer): Reading[] {
  const readings: Reading[] = [];
  for (let rest = stream; ;) {
    const end = rest.indexOf(END) + 4;
    const head = end < 4 ? undefined : readRequestHead(rest.subarray(0), end);
    if (!head || rest.length < end + head.contentLength) return readings;
    const bodyEnd = end + head.contentLength;
    const { method, target } = head;
    readings.push({ method, target, headers: head.headers.entries(), body: rest.toString('latin1', end, bodyEnd) });
    if (head.closes) return readings;
    rest = rest.subarray(bodyEnd);
  }
}

const PIECES = [
  ...['GET', 'POST', 'PUT', 'HEAD', 'get', 'G\0T', 'OPTIONS'],
  ...[' ', '  ', '\t', '/', '/a', '/a?b', '*', 'http://b/', '#', '\\', '\xe9', '\0'],
  ...[' HTTP/1.1', ' HTTP/1.0', ' HTTP/1.1 ', ' http/1.1', '\r\n', '\n', '\r', '\r\n\r\n', '\n\n', '\r\n ', '\r\n\t'],
  ...[
    'Host: b',
    'Host:b',
    'Host : b',
    'host: c',
    'X: 1',
    'X:  1',
    'X: 1 ',
    'X\t: 1',
    ':',
    'X: \x01',
    'X: \x7f',
    'X: \x80',
    'X:',
  ],
  ...['Content-Length: 2', 'Content-Length: 02', 'Content-Length: 0', 'content-length: 5', 'Content-Length: 2, 2'],
  ...['Content-Length:\t2', 'Content-Length: 2 ', 'Content-Length: +2', 'Content-Length : 2', 'Content-Length: 0x2'],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding:\tchunked',
    'transfer_encoding: chunked',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Connection: x',
    'Connection: close, x',
    'Proxy-Connection: close',
  ],
  ...[
    'Upgrade: h2c',
    'Expect: 100-continue',
    'ab',
    '{}',
    '2\r\nab\r\n0\r\n\r\n',
    '0\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: b\r\n\r\n',
  ],
];

const SOUND = (target: string, headers: string, body = '') =>
  `POST ${target} HTTP/1.1\r\nHost: b\r\n${headers}\r\n${body}`;

/** Sound requests with a few pieces put in, taken out or doubled. */
function randomStream(below: (limit: number) => number): Buffer {
  const parts = [
    ...[
      'POST',
      ' /p',
      ' HTTP/1.1',
      '\r\n',
      'Host: b',
      '\r\n',
      'Content-Length: 2',
      '\r\n',
      'X: y',
      '\r\n',
      '\r\n',
      '{}',
    ],
    ...['GET', ' /q', ' HTTP/1.1', '\r\n', 'Host: b', '\r\n', 'Accept: */*', '\r\n', '\r\n'],
  ];
  for (let changes = below(4); changes > 0; changes--) {
    const at = below(parts.length);
    const kind = below(3);
    if (kind === 0) parts.splice(at, 0, PIECES[below(PIECES.length)] ?? '');
    else if (kind === 1) parts.splice(at, 1, PIECES[below(PIECES.length)] ?? '');
    else parts.splice(at, 1);
  }
  const lines = below(2) === 0 ? '' : SOUND('/last', 'Content-Length: 3\r\n', 'abc');
  return Buffer.from(parts.join('') + lines, 'latin1');
}

describe('the relay reads a stream of bytes as Node does, or not at all', () => {
  let server: Server;
  let port: number;
  const byStream = new Map<number, Reading[]>();
  beforeAll(async () => {
    const record = async (request: IncomingMessage): Promise<void> => {
      const reading = {
        method: request.method ?? '',
        target: request.url ?? '',
        headers: request.rawHeaders,
        body: '',
      };
      byStream.get(request.socket.remotePort ?? 0)?.push(reading);
      for await (const bytes of request) reading.body += (bytes as Buffer).toString('latin1');
    };
    server = createServer((request, response) => {
      record(request).then(
        () => response.end(),
        () => response.destroy(),
      );
    });
    server.on('checkExpectation', (_request, response) => response.end());
    server.on('clientError', (_error, socket) => socket.destroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => void server.close());

  /** Sends a stream and ends it. @returns what Node's server read from it */
  async function readByNode(stream: Buffer): Promise<Reading[]> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const readings: Reading[] = [];
    byStream.set(socket.localPort ?? 0, readings);
    socket.on('error', () => undefined).resume();
    // Everything after these requests only ends the connection.
    socket.write(Buffer.concat([stream, Buffer.from('\r\n\r\n\0\r\n\r\n')]));
    await once(socket, 'close');
    return readings;
  }

  test(`${STREAMS} streams, seed ${FUZZ_SEED}`, async () => {
    const below = randomNumbers(FUZZ_SEED);
    let taken = 0;
    for (let batch = 0; batch < STREAMS; batch += 50) {
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const stream = randomStream(below);
          const ours = readByRelay(stream);
          if (ours.length === 0) return;
          taken += ours.length;
          const theirs = await readByNode(stream);
          const seen = JSON.stringify(stream.toString('latin1'));
          expect([seen, theirs.slice(0, ours.length)]).toEqual([seen, ours]);
        }),
      );
    }
    // Most streams begin with a sound request: the comparison is not empty.
    expect(taken).toBeGreaterThan(STREAMS / 2);
  }, 120_000);
});

import { HEADER, headerSet } from './header-lines.js';
import { beginsRequest, MAX_HEAD_BYTES, readRequestHead, readResponseHead } from './http-head.js';

const request = (text: string) => {
  const bytes = Buffer.from(text, 'latin1');
  return readRequestHead(bytes, bytes.length);
};
const response = (text: string) => {
  const bytes = Buffer.from(text, 'latin1');
  return readResponseHead(bytes, bytes.length);
};
const get = (headers: string) => request(`GET /x HTTP/1.1\r\nHost: b\r\n${headers}\r\n`);

describe('the head of a request', () => {
  test('has a method, a target, a length and its headers as received', () => {
    const head = request(
      'PUT /a/x?y=1;2 HTTP/1.1\r\nhOsT: b\r\nContent-Length: 12\r\nX-a:\r\nX-B:\t\u00e9 c\r\nConnection: Close\r\n\r\n',
    );
    // A tab after the colon is legal, but rare.
    expect(head).toBeUndefined();
    const usual = request(
      'PUT /a/x?y=1;2 HTTP/1.1\r\nhOsT: b\r\nContent-Length: 12\r\nX-a:\r\nX-B: \u00e9 \tc\r\nConnection: Close\r\n\r\n',
    );
    expect(usual).toMatchObject({ method: 'PUT', target: '/a/x?y=1;2', contentLength: 12, closes: true });
    expect(usual?.headers.entries()).toEqual([
      'hOsT',
      'b',
      'Content-Length',
      '12',
      'X-a',
      '',
      'X-B',
      '\u00e9 \tc',
      'Connection',
      'Close',
    ]);
    expect(usual?.headers.without(headerSet(['host', 'connection']))).toBe(
      'Content-Length: 12\r\nX-a:\r\nX-B: \u00e9 \tc\r\n',
    );
    expect(usual?.headers.withoutNamed(headerSet(['host']), ['x-a', 'content-length'])).toBe(
      'X-B: \u00e9 \tc\r\nConnection: Close\r\n',
    );
  });

  test.each([
    ['no version', 'GET /x\r\nHost: b\r\n\r\n'],
    ['HTTP/1.0', 'GET /x HTTP/1.0\r\nHost: b\r\n\r\n'],
    ['HTTP/2', 'GET /x HTTP/2.0\r\nHost: b\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\n'],
    ['an unknown method', 'PURGE /x HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['a method in lower case', 'get /x HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['CONNECT', 'CONNECT b:443 HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['the absolute form', 'GET http://b/x HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['the asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['two spaces in the request line', 'GET  /x HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['a space in the target', 'GET /x y HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['a tab in the request line', 'GET\t/x HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['a space after the version', 'GET /x HTTP/1.1 \r\nHost: b\r\n\r\n'],
    ['a control character in the target', 'GET /\x01 HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['a byte above ASCII in the target', 'GET /\xe9 HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['an empty line before the request line', '\r\nGET /x HTTP/1.1\r\nHost: b\r\n\r\n'],
    ['a space before the first header', 'GET /x HTTP/1.1\r\n Host: b\r\n\r\n'],
    ['LF alone after the request line', 'GET /x HTTP/1.1\nHost: b\r\n\r\n'],
    ['no host', 'GET /x HTTP/1.1\r\nX: b\r\n\r\n'],
    ['no headers', 'GET /x HTTP/1.1\r\n\r\n'],
    ['too many bytes', `GET /x HTTP/1.1\r\nHost: b\r\nX: ${'x'.repeat(MAX_HEAD_BYTES)}\r\n\r\n`],
  ])('is left to Node with %s', (_what, text) => expect(request(text)).toBeUndefined());

  test.each([
    ['LF alone after a header', 'X: a\nY: b\r\n'],
    ['CR alone in a value', 'X: a\rY: b\r\n'],
    ['CR alone at the end of a value', 'X: a\r\r\n'],
    ['NUL in a value', 'X: a\0b\r\n'],
    ['DEL in a value', 'X: a\x7fb\r\n'],
    ['a folded value', 'X: a\r\n b\r\n'],
    ['a value folded with a tab', 'X: a\r\n\tb\r\n'],
    ['a space before the colon', 'X : a\r\n'],
    ['a space before the colon of a length', 'Content-Length : 5\r\n'],
    ['no colon', 'X\r\n'],
    ['no name', ': a\r\n'],
    ['a separator in a name', 'X(Y): a\r\n'],
    ['a byte above ASCII in a name', 'X\xe9: a\r\n'],
    ['NUL in a name', 'X\0: a\r\n'],
    ['two spaces before a value', 'X:  a\r\n'],
    ['white space after a value', 'X: a \r\n'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['the same length twice', 'Content-Length: 5\r\ncontent-length: 5\r\n'],
    ['a list of lengths', 'Content-Length: 5, 5\r\n'],
    ['a signed length', 'Content-Length: +5\r\n'],
    ['a negative length', 'Content-Length: -5\r\n'],
    ['a length in hexadecimal', 'Content-Length: 0x5\r\n'],
    ['a length with a leading zero', 'Content-Length: 05\r\n'],
    ['a length with a fraction', 'Content-Length: 5.0\r\n'],
    ['an empty length', 'Content-Length:\r\n'],
    ['a length that no number holds exactly', 'Content-Length: 9007199254740993\r\n'],
    ['a transfer encoding', 'Transfer-Encoding: chunked\r\n'],
    ['a transfer encoding after a length', 'Content-Length: 5\r\ntransfer-encoding: identity\r\n'],
    ['an empty transfer encoding', 'TRANSFER-ENCODING:\r\n'],
    ['an expectation', 'Expect: 100-continue\r\n'],
    ['an upgrade', 'Upgrade: websocket\r\n'],
    ['a trailer', 'Trailer: x\r\n'],
    ['TE', 'TE: trailers\r\n'],
    ['a proxy connection', 'Proxy-Connection: keep-alive\r\n'],
    ['a header that belongs to the connection', 'Connection: close, x-secret\r\n'],
    ['a length that belongs to the connection', 'Connection: content-length\r\n'],
    ['an empty connection', 'Connection:\r\n'],
    ['two connections', 'Connection: close\r\nConnection: keep-alive\r\n'],
    ['two hosts', 'Host: c\r\n'],
    ['two tokens', 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n'],
    ['two forwarding headers', 'X-Forwarded-For: 1.1.1.1\r\nx-forwarded-for: 2.2.2.2\r\n'],
    ['two content types', 'Content-Type: a/b\r\nContent-Type: c/d\r\n'],
    ['an empty line before its end', '\r\nX: a\r\n'],
  ])('is left to Node with %s', (_what, headers) => expect(get(headers)).toBeUndefined());

  test.each([
    ['GET /x HTTP/1.1\r\nHost: b\r\n', true],
    ['GET /x HTTP/1.1\r\n', true],
    ['GET /x HTTP/1.0\r\nHost: b', false],
    ['GET /x HTTP/1.1', false],
    ['\x16\x03\x01', false],
    ['hello\r\nworld', false],
    ['', false],
  ])('that has not arrived whole (%j) is waited for: %s', (text, expected) => {
    expect(beginsRequest(Buffer.from(text, 'latin1'))).toBe(expected);
  });
});

describe('the head of a response', () => {
  test.each([
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
      { status: 200, contentLength: 5, isChunked: false, persists: true },
    ],
    ['HTTP/1.1 200\r\n\r\n', { status: 200, contentLength: undefined, persists: true }],
    ['HTTP/1.1 404 \xe9\r\nTransfer-Encoding: Chunked\r\n\r\n', { status: 404, isChunked: true }],
    ['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', { persists: false }],
    ['HTTP/1.1 200 OK\r\nConnection: Keep-Alive, X-Hop\r\n\r\n', { persists: true, connectionHeaders: ['x-hop'] }],
    ['HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n', { persists: false }],
    ['HTTP/1.0 200 OK\r\n\r\n', { persists: false }],
    ['HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n', { persists: true }],
    ['HTTP/1.1 200 OK\r\nX:   a  \r\nContent-Length:  7 \r\n\r\n', { contentLength: 7 }],
  ])('%j is read', (text, expected) => expect(response(text)).toMatchObject(expected));

  test.each([
    ['no status', 'HTTP/1.1\r\n\r\n'],
    ['a status of zero', 'HTTP/1.1 000 X\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 X\r\n\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['another protocol', 'ICY 200 OK\r\n\r\n'],
    ['LF alone', 'HTTP/1.1 200 OK\nX: a\r\n\r\n'],
    ['a control character in the reason', 'HTTP/1.1 200 \x01\r\n\r\n'],
    ['a folded value', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n'],
    ['no colon', 'HTTP/1.1 200 OK\r\nX\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['an invalid length', 'HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n'],
    ['an encoding that is not relayed', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'],
    ['two transfer encodings', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ])('is invalid with %s', (_what, text) => expect(response(text)).toBeUndefined());
});

test('known headers are recognized in any case, and others are not mistaken for them', () => {
  for (const name of Object.keys(HEADER) as (keyof typeof HEADER)[]) {
    for (const spelled of [name, name.toUpperCase(), name.replace(/^./, (letter) => letter.toUpperCase())]) {
      expect(response(`HTTP/1.1 200 OK\r\n${spelled}: chunked\r\n\r\n`)?.headers.has(HEADER[name]) ?? 'length').toBe(
        name === 'content-length' ? 'length' : true,
      );
    }
    const similar = name.replace(/.$/, '~').replace('-', '_');
    expect(response(`HTTP/1.1 200 OK\r\n${similar}: 1\r\n\r\n`)?.headers.set).toBe(0);
  }
});

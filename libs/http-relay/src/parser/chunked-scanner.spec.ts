import { ChunkedScanner } from './chunked-scanner.js';

const BODY = '4\r\nWiki\r\n6;name="v"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\n';

/**
 * Feeds a text in pieces.
 * @returns the chunks that pass, how much was consumed, and whether the end was seen; undefined if invalid
 */
function scan(text: string, pieceLength = text.length) {
  const scanner = new ChunkedScanner();
  let passed = '';
  let consumed = 0;
  for (let at = 0; at < text.length && !scanner.isDone; at += pieceLength) {
    const piece = Buffer.from(text.slice(at, at + pieceLength), 'latin1');
    const scanned = scanner.scan(piece);
    if (!scanned) return undefined;
    passed += piece.toString('latin1', 0, scanned.chunkBytes);
    consumed += scanned.consumed;
  }
  return { passed, consumed, isDone: scanner.isDone };
}

describe('ChunkedScanner', () => {
  test.each([1, 2, 3, 7, 1000])('finds the end of a body in pieces of %i bytes', (length) => {
    expect(scan(`${BODY}\r\nHTTP/1.1 200 OK`, length)).toEqual({
      passed: BODY,
      consumed: BODY.length + 2,
      isDone: true,
    });
  });

  test.each([1, 5, 1000])('passes no trailer on, in pieces of %i bytes', (length) => {
    expect(scan(`${BODY}X-Trailer: a\r\nY: b\r\n\r\nmore`, length)).toEqual({
      passed: BODY,
      consumed: BODY.length + 22,
      isDone: true,
    });
  });

  test.each([['', BODY, '4\r\nWi', '4\r\nWiki\r', '0\r\n', '0\r\nX: a', '0\r\n\r'].flat()])(
    'has no end yet in %j',
    (text) => {
      expect(scan(text)?.isDone).toBe(false);
    },
  );

  test.each([
    ['no size', '\r\n'],
    ['a sign', '+4\r\nWiki\r\n'],
    ['0x', '0x4\r\nWiki\r\n'],
    ['a space before the size', ' 4\r\nWiki\r\n'],
    ['a space after the size', '4 \r\nWiki\r\n'],
    ['a size that is too long', '0000000000004\r\nWiki\r\n'],
    ['LF alone after the size', '4\nWiki\r\n'],
    ['CR alone after the size', '4\rWiki\r\n'],
    ['LF alone after the data', '4\r\nWiki\n0\r\n'],
    ['data longer than its size', '4\r\nWikipedia\r\n'],
    ['a control character in an extension', '4;a=\x01\r\nWiki\r\n'],
    ['LF in an extension', '4;a\n5\r\nWiki\r\n'],
    ['an extension that is too long', `4;${'x'.repeat(2000)}\r\nWiki\r\n`],
    ['LF alone in a trailer', '0\r\nX: a\n\r\n'],
    ['trailers that are too long', `0\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['LF alone at the end', '0\r\n\n'],
  ])('refuses %s', (_what, text) => {
    expect(scan(text)).toBeUndefined();
    expect(scan(text, 1)).toBeUndefined();
  });
});

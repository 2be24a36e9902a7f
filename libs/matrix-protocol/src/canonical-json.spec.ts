import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  test('sorts by code point, escapes only what must be, writes the rest raw', () => {
    const value = { '2': 4, '\u{10000}': 1, '\ufffd': 2, a: [true, null, -1], '10': 3, é: '\u0007/"\\' };
    expect(canonicalJson(value)).toBe(
      '{"10":3,"2":4,"a":[true,null,-1],"é":"\\u0007/\\"\\\\","\ufffd":2,"\u{10000}":1}',
    );
    expect(Buffer.from(canonicalJson({ '\ufffd': 2, '\u{10000}': 1 })).toString('hex')).toBe(
      '7b22efbfbd223a322c22f0908080223a317d',
    );
  });

  test('leaves the line separators and DEL as they are', () => {
    expect(canonicalJson('\u2028\u2029\u007f')).toBe('"\u2028\u2029\u007f"');
  });

  test('uses the short escapes for the control characters that have one', () => {
    expect(canonicalJson('\b\t\n\f\r\u001f')).toBe('"\\b\\t\\n\\f\\r\\u001f"');
  });

  test.each([[1.5], [-0], [2 ** 53], [Number.NaN], [Infinity]])('refuses the number %p', (value) => {
    expect(() => canonicalJson({ value })).toThrow('not an integer');
  });

  test('refuses a lone surrogate, in a value and in a name', () => {
    expect(() => canonicalJson('\ud800')).toThrow('lone surrogate');
    expect(() => canonicalJson({ '\udc00': 1 })).toThrow('lone surrogate');
  });

  test('keeps a member called __proto__', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });
});

import { canonicalJson } from './canonical-json.js';
import { parseJson, parseSignedJsonObject } from './parse-json.js';
import { objectOf, Random } from './testing/random.js';

describe('canonicalJson', () => {
  test('sorts by code point, and escapes only what must be escaped', () => {
    const value = { '2': 4, '\u{10000}': 1, '\ufffd': 2, a: [true, null, -1], '10': 3, é: '\u0007/"\\' };
    expect(canonicalJson(value)).toBe(
      '{"10":3,"2":4,"a":[true,null,-1],"é":"\\u0007/\\"\\\\","\ufffd":2,"\u{10000}":1}',
    );
    expect(Buffer.from(canonicalJson({ '\ufffd': 2, '\u{10000}': 1 })).toString('hex')).toBe(
      '7b22efbfbd223a322c22f0908080223a317d',
    );
  });

  test('does not escape line separators and DEL', () => {
    expect(canonicalJson('\u2028\u2029\u007f')).toBe('"\u2028\u2029\u007f"');
  });

  test('uses the short escapes of control characters', () => {
    expect(canonicalJson('\b\t\n\f\r\u001f')).toBe('"\\b\\t\\n\\f\\r\\u001f"');
  });

  test.each([[1.5], [-0], [2 ** 53], [Number.NaN], [Infinity]])('refuses the number %p', (value) => {
    expect(() => canonicalJson({ value })).toThrow('not an integer');
  });

  test('refuses a lone surrogate, in a value and in a name', () => {
    expect(() => canonicalJson('\ud800')).toThrow('lone surrogate');
    expect(() => canonicalJson({ '\udc00': 1 })).toThrow('lone surrogate');
  });

  test('keeps a member named __proto__', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });
});

describe.each([1, 2, 3, 4, 5])('canonicalJson of random values (seed %i)', (seed) => {
  const random = new Random(seed);
  const values = Array.from({ length: 300 }, () => random.json());

  test('parses back to the same value', () => {
    for (const value of values) expect(parseJson(Buffer.from(canonicalJson(value)))).toEqual(value);
    for (const value of values) expect(parseSignedJsonObject(Buffer.from(canonicalJson({ value })))).toEqual({ value });
  });

  test('does not depend on the order of members', () => {
    for (const value of values) expect(canonicalJson(shuffled(value, random))).toBe(canonicalJson(value));
  });

  test('is stable when parsed and serialized again', () => {
    for (const value of values) expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
  });

  test('sorts names by their UTF-8 bytes, without duplicates', () => {
    for (const value of values) {
      const names = namesIn(canonicalJson(value));
      expect(names).toEqual([...new Set(names)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }
  });

  test('is UTF-8 without white space or unnecessary escapes', () => {
    for (const value of values) {
      const text = canonicalJson(value);
      expect(Buffer.from(text).toString('utf8')).toBe(text);
      const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '');
      expect(outside).toMatch(/^[0-9a-z{}[\],:-]*$/);
      const escapes = text.match(/\\(?:u.{4}|.)/g) ?? [];
      for (const escape of escapes) expect(escape).toMatch(/^\\(?:["\\bfnrt]|u00[01][0-9a-f])$/);
    }
  });
});

function shuffled(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((entry) => shuffled(entry, random));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, shuffled(member, random)] as const);
  return objectOf(random.shuffle(members));
}

/** The names of the outermost object, in their order in the text. */
function namesIn(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*"):|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (name !== undefined) {
      if (depth === 1 && text.startsWith('{')) names.push(JSON.parse(name));
    } else if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
  }
  return names;
}

import { canonicalJson } from './canonical-json.js';
import { MatrixError } from './matrix-error.js';
import {
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonObject,
  parseSignedJsonObject,
  parseStoredJsonObject,
} from './parse-json.js';
import { Random } from './testing/random.js';

const bytes = (text: string) => Buffer.from(text, 'utf8');

describe('parseJson', () => {
  test.each([['{'], [''], ['nul'], ["{'a':1}"], ['\ufeff{}']])('refuses %p as M_NOT_JSON', (text) => {
    expect(() => parseJson(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_NOT_JSON', status: 400 }));
  });

  test('refuses bytes that are not UTF-8', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(
      expect.objectContaining({ errcode: 'M_NOT_JSON' }),
    );
  });

  test.each([
    ['{"a":1,"a":2}'],
    ['{"a":1,"\\u0061":2}'],
    ['[{"b":{"a" : 1, "x":"{", "a":"}"}}]'],
    ['{"a":{},"b":"\\"","a":[]}'],
  ])('refuses the duplicate member in %p', (text) => {
    expect(() => parseJson(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
  });

  test.each([['{"a":{"a":1},"b":[{"a":2},{"a":3}]}'], ['{"a":"a","b":"a\\":"}'], ['"a"'], [' [ ] ']])(
    'accepts %p, where no object repeats a name',
    (text) => expect(parseJson(bytes(text))).toEqual(JSON.parse(text)),
  );

  test.each([['"\\ud800"'], ['{"\\uDC00":1}'], ['["a\\uD83Dx"]'], ['"\\ude00\\ud83d"']])(
    'refuses the lone surrogate in %p',
    (text) => {
      expect(() => parseJson(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
    },
  );

  test.each([['"\\ud83d\\ude00"'], ['"\\\\ud800"'], ['"\\u0000"']])(
    'accepts the complete surrogate pair or escape in %p',
    (text) => expect(parseJson(bytes(text))).toBe(JSON.parse(text)),
  );

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
    ['both', '[{"a":', '}]'],
  ])('refuses %s nested too deeply, however deeply', (_what, open, close) => {
    const nested = (depth: number) => bytes(open.repeat(depth) + '1' + close.repeat(depth));
    const levels = open.includes('[{') ? MAX_JSON_DEPTH / 2 : MAX_JSON_DEPTH;
    expect(() => parseJson(nested(levels))).not.toThrow();
    for (const depth of [levels + 1, 100_000]) {
      expect(() => parseJson(nested(depth))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
    }
  });

  test('counts open levels only', () => {
    expect(parseJson(bytes(`[${Array(2000).fill('[{}]').join(',')}]`))).toHaveLength(2000);
  });

  test('keeps __proto__ and constructor as plain data', () => {
    const value = parseJsonObject(bytes('{"__proto__":{"admin":true},"constructor":{"prototype":1}}'));
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe.each([1, 2, 3, 4])('parseJson of random texts (seed %i)', (seed) => {
  const random = new Random(seed);
  const outcome = (text: Buffer) => {
    try {
      return { value: parseJson(text) };
    } catch (error) {
      if (error instanceof MatrixError) return { errcode: error.errcode };
      throw error;
    }
  };

  test('finds a duplicate member at any depth and with any escapes', () => {
    const escaped = (name: string) =>
      `"${[...name].map((c) => (random.below(2) ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)).join('')}"`;
    const wrapped = (text: string): string => {
      const value = canonicalJson(random.json(2));
      const around = [text, `[${value},${text}]`, `{"before":${value},"within": ${text}}`];
      return random.below(4) === 0 ? text : wrapped(random.pick(around.slice(1)));
    };
    for (let i = 0; i < 300; i++) {
      const [one, other] = [canonicalJson(random.json(2)), canonicalJson(random.json(2))];
      const object = (second: string) => `{${escaped('name')} :${one}, ${escaped(second)}\t:${other}}`;
      expect(outcome(Buffer.from(wrapped(object('name'))))).toEqual({ errcode: 'M_BAD_JSON' });
      expect(outcome(Buffer.from(wrapped(object('Name'))))).not.toHaveProperty('errcode');
    }
  });

  test('parses damaged texts like JSON.parse, or refuses them', () => {
    const marks = [...Buffer.from('"\\{}[],:0u \u0000d8'), 0xff];
    for (let i = 0; i < 1000; i++) {
      const whole = Buffer.from(canonicalJson(random.json()));
      const text = random.below(4) === 0 ? whole.subarray(0, 1 + random.below(whole.length)) : whole;
      for (let hits = random.below(3); hits >= 0; hits--) text[random.below(text.length)] = random.pick(marks);
      const read = outcome(text);
      if ('value' in read) expect(read.value).toEqual(JSON.parse(text.toString('utf8')));
    }
  });
});

describe('parseJsonObject', () => {
  test.each([['[]'], ['null'], ['"x"'], ['1']])('refuses %p, which is not an object', (text) => {
    expect(() => parseJsonObject(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
  });

  test('accepts an empty body as {} only if the body is optional', () => {
    expect(parseJsonObject(bytes(''), { optional: true })).toEqual({});
    expect(() => parseJsonObject(bytes(''))).toThrow(expect.objectContaining({ errcode: 'M_NOT_JSON' }));
  });
});

describe('parseSignedJsonObject', () => {
  test.each([['1.0'], ['1e3'], ['-0'], ['9007199254740992'], ['0.1']])('refuses the number %s', (number) => {
    expect(() => parseSignedJsonObject(bytes(`{"n":[${number}]}`))).toThrow(
      expect.objectContaining({ errcode: 'M_BAD_JSON' }),
    );
  });

  test('accepts integers up to 2^53 - 1 in magnitude', () => {
    const text = '{"a":9007199254740991,"b":-9007199254740991,"c":0}';
    expect(parseSignedJsonObject(bytes(text))).toEqual(JSON.parse(text));
  });
});

describe('parseStoredJsonObject', () => {
  test.each([['1e400'], ['-1e999'], ['9007199254740993'], ['-12345678901234567890']])(
    'refuses the number %s, which would change',
    (number) => {
      expect(() => parseStoredJsonObject(bytes(`{"n":[${number}]}`))).toThrow(
        expect.objectContaining({ errcode: 'M_BAD_JSON' }),
      );
    },
  );

  test('accepts fractions and exponents, which account data may contain', () => {
    expect(parseStoredJsonObject(bytes('{"order":0.5,"a":1e3,"b":-0,"c":1e20}'))).toEqual({
      order: 0.5,
      a: 1000,
      b: -0,
      c: 1e20,
    });
  });
});

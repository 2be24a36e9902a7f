import {
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonObject,
  parseSignedJsonObject,
  parseStoredJsonObject,
} from './parse-json.js';

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
  ])('refuses a member named twice in %p', (text) => {
    expect(() => parseJson(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
  });

  test.each([['{"a":{"a":1},"b":[{"a":2},{"a":3}]}'], ['{"a":"a","b":"a\\":"}'], ['"a"'], [' [ ] ']])(
    'takes %p, where no object repeats a name',
    (text) => expect(parseJson(bytes(text))).toEqual(JSON.parse(text)),
  );

  test.each([['"\\ud800"'], ['{"\\uDC00":1}'], ['["a\\uD83Dx"]'], ['"\\ude00\\ud83d"']])(
    'refuses the lone surrogate in %p',
    (text) => {
      expect(() => parseJson(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
    },
  );

  test.each([['"\\ud83d\\ude00"'], ['"\\\\ud800"'], ['"\\u0000"']])('takes %p, which is whole', (text) =>
    expect(parseJson(bytes(text))).toBe(JSON.parse(text)),
  );

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
    ['both', '[{"a":', '}]'],
  ])('refuses %s that nest too deep, however deep', (_what, open, close) => {
    const nested = (depth: number) => bytes(open.repeat(depth) + '1' + close.repeat(depth));
    const levels = open.includes('[{') ? MAX_JSON_DEPTH / 2 : MAX_JSON_DEPTH;
    expect(() => parseJson(nested(levels))).not.toThrow();
    for (const depth of [levels + 1, 100_000]) {
      expect(() => parseJson(nested(depth))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
    }
  });

  test('counts what is open, not what was', () => {
    expect(parseJson(bytes(`[${Array(2000).fill('[{}]').join(',')}]`))).toHaveLength(2000);
  });

  test('keeps __proto__ and constructor as plain data', () => {
    const value = parseJsonObject(bytes('{"__proto__":{"admin":true},"constructor":{"prototype":1}}'));
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe('parseJsonObject', () => {
  test.each([['[]'], ['null'], ['"x"'], ['1']])('refuses %p, which is no object', (text) => {
    expect(() => parseJsonObject(bytes(text))).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON' }));
  });

  test('takes an empty body as {} only where the body is optional', () => {
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

  test('takes integers up to 2^53 - 1 on both sides', () => {
    const text = '{"a":9007199254740991,"b":-9007199254740991,"c":0}';
    expect(parseSignedJsonObject(bytes(text))).toEqual(JSON.parse(text));
  });
});

describe('parseStoredJsonObject', () => {
  test.each([['1e400'], ['-1e999'], ['9007199254740993'], ['-12345678901234567890']])(
    'refuses the number %s, which would come out as another',
    (number) => {
      expect(() => parseStoredJsonObject(bytes(`{"n":[${number}]}`))).toThrow(
        expect.objectContaining({ errcode: 'M_BAD_JSON' }),
      );
    },
  );

  test('takes fractions and exponents, which account data may hold', () => {
    expect(parseStoredJsonObject(bytes('{"order":0.5,"a":1e3,"b":-0,"c":1e20}'))).toEqual({
      order: 0.5,
      a: 1000,
      b: -0,
      c: 1e20,
    });
  });
});

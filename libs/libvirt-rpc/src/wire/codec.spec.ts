import { XdrError } from '../errors.js';
import {
  array,
  characters,
  double,
  flag,
  hyper,
  int,
  MAX_STRING_BYTES,
  nullable,
  opaque,
  string,
  struct,
  uint,
  unsignedHyper,
  uuid,
  type Codec,
} from './codec.js';
import { typedParams, type TypedValue } from './types.js';
import { XdrReader } from './xdr-reader.js';
import { XdrWriter } from './xdr-writer.js';

function encode<T>(codec: Codec<T>, value: T): Buffer {
  const writer = new XdrWriter();
  codec.write(writer, value);
  return writer.toBuffer();
}

const decode = <T>(codec: Codec<T>, bytes: Buffer): T => codec.read(new XdrReader(bytes));

describe('codecs', () => {
  // The bytes are those of RFC 4506.
  test.each<[string, Codec<never>, unknown, string]>([
    ['int', int as Codec<never>, -2, 'fffffffe'],
    ['uint', uint as Codec<never>, 0xfffffffe, 'fffffffe'],
    ['boolean', flag as Codec<never>, true, '00000001'],
    ['hyper', hyper as Codec<never>, -2, 'fffffffffffffffe'],
    ['unsigned hyper', unsignedHyper as Codec<never>, 2 ** 40, '0000010000000000'],
    ['double', double as Codec<never>, 1.5, '3ff8000000000000'],
    ['string, padded', string as Codec<never>, 'ab', '0000000261620000'],
    ['string outside of ASCII', string as Codec<never>, 'ü', '00000002c3bc0000'],
    ['empty string', string as Codec<never>, '', '00000000'],
    ['absent value', nullable(string) as Codec<never>, null, '00000000'],
    ['present value', nullable(int) as Codec<never>, 5, '0000000100000005'],
    ['array', array(int, 2) as Codec<never>, [1, 2], '000000020000000100000002'],
    ['fixed bytes', opaque(3) as Codec<never>, Buffer.from('abc'), '61626300'],
    ['characters', characters(2) as Codec<never>, 'a', '0000006100000000'],
    ['UUID', uuid as Codec<never>, '2c749204-8322-4dfd-b324-cb2e556e0e9a', '2c74920483224dfdb324cb2e556e0e9a'],
  ])('writes and reads a value of type %s', (_type, codec, value, bytes) => {
    expect(encode(codec, value as never).toString('hex')).toBe(bytes);
    expect(decode(codec, Buffer.from(bytes, 'hex'))).toEqual(value);
  });

  test('writes the fields of a structure in their order', () => {
    const codec = struct({ first: int, second: string });
    expect(encode(codec, { second: 'x', first: 1 }).toString('hex')).toBe('000000010000000178000000');
  });

  test('writes values of any total size', () => {
    for (let length = 200; length < 300; length++) {
      const codec = struct({ text: string, number: int, long: hyper, real: double, id: uuid });
      const value = {
        text: 'x'.repeat(length),
        number: 7,
        long: 8,
        real: 9,
        id: '2c749204-8322-4dfd-b324-cb2e556e0e9a',
      };
      expect(decode(codec, encode(codec, value))).toEqual(value);
    }
  });

  test('reads parameters of every type', () => {
    const params = new Map<string, TypedValue>([
      ['long', -5],
      ['text', 'a'],
      ['truth', false],
    ]);
    expect(decode(typedParams(), encode(typedParams(), params))).toEqual(params);
    const unsigned = Buffer.from('00000001' + '0000000161000000' + '00000004' + '00000000000000ff', 'hex');
    expect(decode(typedParams(), unsigned)).toEqual(new Map([['a', 255]]));
  });

  test.each<[string, Codec<never>, string]>([
    ['a truncated int', int as Codec<never>, '0000'],
    ['a truncated hyper', hyper as Codec<never>, '00000000'],
    ['a string that is longer than the message', string as Codec<never>, '00000009616263'],
    ['a string without its padding', string as Codec<never>, '000000026162'],
    ['a string that is longer than the limit', string as Codec<never>, '00400001'],
    ['an array that is longer than the message', array(int, 1000) as Codec<never>, '000003e8'],
    ['an array that is longer than the limit', array(int, 1) as Codec<never>, '000000020000000100000002'],
    ['a flag that is neither 0 nor 1', nullable(int) as Codec<never>, '0000000200000001'],
    ['an unknown type of a parameter', typedParams() as Codec<never>, '00000001000000016100000000000009'],
  ])('refuses %s', (_title, codec, bytes) => {
    expect(() => decode(codec, Buffer.from(bytes, 'hex'))).toThrow(XdrError);
  });

  test.each<[string, Codec<never>, unknown]>([
    ['an int with a fraction', int as Codec<never>, 1.5],
    ['an int beyond 32 bits', int as Codec<never>, 2 ** 31],
    ['a negative unsigned int', uint as Codec<never>, -1],
    ['an integer beyond 2^53', hyper as Codec<never>, 2 ** 60],
    ['a negative size', unsignedHyper as Codec<never>, -1],
    ['a NUL character, which would end the string in C', string as Codec<never>, 'a\0b'],
    ['a string beyond the limit', string as Codec<never>, 'x'.repeat(MAX_STRING_BYTES + 1)],
    ['something other than a UUID', uuid as Codec<never>, '2c749204'],
    ['an array beyond the limit', array(int, 1) as Codec<never>, [1, 2]],
    ['bytes of another length', opaque(3) as Codec<never>, Buffer.from('ab')],
  ])('does not write %s', (_title, codec, value) => {
    expect(() => encode(codec, value as never)).toThrow(XdrError);
  });
});

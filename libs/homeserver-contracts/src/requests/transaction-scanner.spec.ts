import { isJsonObject, MatrixError, parseJson } from '@headgate/matrix-protocol';
import { TooManyPdus, TransactionScanner } from './transaction-scanner.js';

function scan(text: string | Buffer, chunkBytes = Infinity): number {
  const bytes = Buffer.from(text as string);
  const scanner = new TransactionScanner(50);
  const step = Math.min(chunkBytes, bytes.length);
  for (let at = 0; at < bytes.length; at += step) scanner.push(bytes.subarray(at, at + step));
  return scanner.end();
}

/** The number of PDUs, or the error code, in every way of splitting the body into chunks. */
function outcome(text: string | Buffer): number | string {
  const outcomes = [Infinity, 1, 2, 3, 7].map((chunkBytes) => {
    try {
      return scan(text, chunkBytes);
    } catch (error) {
      return error instanceof MatrixError ? error.errcode : (error as Error).name;
    }
  });
  expect(new Set(outcomes).size).toBe(1);
  return outcomes[0]!;
}

const list = (count: number, value = '{}') => `[${Array(count).fill(value).join(',')}]`;

describe('TransactionScanner', () => {
  test.each([
    ['{"pdus":[]}', 0],
    [' { "pdus" : [ {} , {"a":[1,2,{"pdus":[1,2,3]}]} ] } \n', 2],
    ['{"edus":[[],{},1],"pdus":[null,true,false,"x",-1.5e3,[[]]],"origin":"a"}', 6],
    ['{"p\\u0064us":[{}]}', 1],
    ['{"pdus":["\\ud83d\\ude00 ] } \\" é 😀"]}', 1],
    ['{"x":{"pdus":[1,2]},"pdus":[0]}', 1],
    ['{"__proto__":1,"pdus":[]}', 0],
    [`{"pdus":${list(50)},"edus":${list(1000)}}`, 50],
  ])('counts the PDUs of %s', (text, pdus) => expect(outcome(text)).toBe(pdus));

  test.each([
    [`{"pdus":${list(51)}}`],
    [`{"edus":${list(1000)},"pdus":${list(51, '1')}}`],
    [`{"pdus":${list(51)} and then nothing that is JSON`],
  ])('refuses the 51st PDU as it begins', (text) => expect(outcome(text)).toBe('TooManyPdus'));

  test.each([
    ['[]'],
    ['1'],
    ['"x"'],
    ['{}'],
    ['{"edus":[]}'],
    ['{"pdus":{}}'],
    ['{"pdus":null}'],
    ['{"pdus":[],"pdus":[1]}'],
    ['{"pdus":[],"p\\u0064us":[1]}'],
    ['{"a":1,"a":2,"pdus":[]}'],
    ['{"PDUs":[],"pdus":[]}'],
    ['{"pdus":[],"pdu\u017f":[]}'],
    [`{"pdus":${'['.repeat(501)}`],
    [`{"${'x'.repeat(1001)}":1,"pdus":[]}`],
    [`{"pdus":[],"n":${'1'.repeat(1001)}}`],
  ])('refuses %s with M_BAD_JSON', (text) => expect(outcome(text)).toBe('M_BAD_JSON'));

  test.each([
    [''],
    [' '],
    ['{"pdus":[]'],
    ['{"pdus":[]}}'],
    ['{"pdus":[]} x'],
    ['{"pdus":[,]}'],
    ['{"pdus":[1,]}'],
    ['{"pdus":[],}'],
    ['{"pdus":[] "a":1}'],
    ['{"pdus" []}'],
    ["{'pdus':[]}"],
    ['{pdus:[]}'],
    ['{"pdus":[01]}'],
    ['{"pdus":[1.]}'],
    ['{"pdus":[+1]}'],
    ['{"pdus":[NaN]}'],
    ['{"pdus":[truex]}'],
    ['{"pdus":["\n"]}'],
    ['{"pdus":["\\x"]}'],
    ['{"pdus":["\\u12g4"]}'],
    ['{"pdus":[}]'],
    ['{"pdus":[]]'],
    ['/**/{"pdus":[]}'],
    ['\ufeff{"pdus":[]}'],
    ['nonsense'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22])],
  ])('refuses %j with M_NOT_JSON', (text) => expect(outcome(text)).toBe('M_NOT_JSON'));

  test('agrees with the parser on random texts', () => {
    let state = 1;
    const random = (n: number) => ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 8) % n;
    const bits = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"pdus"',
      '"a"',
      '1',
      '-',
      '.5',
      'e1',
      'true',
      'null',
      ' ',
      '"\\n"',
      '{}',
      '[]',
    ];
    const seeds = ['{"pdus":[{},1,"x"],"a":{"b":[true,null]}}', '{"a":1.5e-3,"pdus":[]}'];
    for (let i = 0; i < 20_000; i++) {
      const seed = seeds[i % seeds.length]!;
      const at = random(seed.length);
      const text = seed.slice(0, at) + bits[random(bits.length)] + seed.slice(at + random(3));
      expect([text, isTransaction(() => scan(text))]).toEqual([text, isTransaction(() => parsed(text))]);
    }
  });

  // The time of the processor, not of the clock: other processes do not count.
  test('takes at most 20 ms for each 64 KiB of the smallest values', () => {
    const bytes = Buffer.from(`{"pdus":[],"edus":${list(700_000)}}`);
    const scanner = new TransactionScanner(50);
    const slices: number[] = [];
    for (let at = 0; at < bytes.length; at += 65_536) {
      const before = process.cpuUsage();
      scanner.push(bytes.subarray(at, at + 65_536));
      slices.push(process.cpuUsage(before).user / 1000);
    }
    expect(scanner.end()).toBe(0);
    expect(slices.toSorted((a, b) => a - b).at(Math.floor(slices.length * 0.9))).toBeLessThan(20);
  });

  test('stops at the first PDU too many', () => {
    const scanner = new TransactionScanner(1);
    scanner.push(Buffer.from('{"pdus":[{}'));
    expect(() => scanner.push(Buffer.from(',{'))).toThrow(TooManyPdus);
  });
});

function parsed(text: string): void {
  const value = parseJson(Buffer.from(text));
  if (!isJsonObject(value) || !Array.isArray(value.pdus)) throw new Error('not a transaction');
}

function isTransaction(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

import { ByteParser, type Parsing } from './byte-parser.js';
import { RfbClientFilter } from './client-filter.js';
import { readViewer, type ViewerMessages } from './viewer-messages.js';

const ROUNDS = 100;
const HANDSHAKE = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 0])]);
const FORWARDED_HANDSHAKE = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1])]);

/** Pseudo-random numbers below a limit; the same for the same seed (mulberry32). */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

type Random = (limit: number) => number;

const randomBytes = (random: Random, length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)));

function message(random: Random, type: number, head: number[], bodyLength: number): Buffer {
  return Buffer.concat([Buffer.from([type, ...head]), randomBytes(random, bodyLength)]);
}

/** One valid client message, and whether a view-only client may send it. */
function clientMessage(random: Random): { bytes: Buffer; isInput: boolean } {
  const size = random(4);
  const clipboard = random(3000);
  const head = Buffer.alloc(7);
  head.writeInt32BE(random(2) ? clipboard : -clipboard, 3);
  const choices: (() => { bytes: Buffer; isInput: boolean })[] = [
    () => ({ bytes: message(random, 0, [], 19), isInput: false }),
    () => ({ bytes: message(random, 2, [0, 0, size], 4 * size), isInput: false }),
    () => ({ bytes: message(random, 3, [], 9), isInput: false }),
    () => ({ bytes: message(random, 150, [], 9), isInput: false }),
    () => ({ bytes: message(random, 248, [0, 0, 0, 0, 0, 0, 0, size], size), isInput: false }),
    () => ({ bytes: message(random, 4, [], 7), isInput: true }),
    () => ({ bytes: message(random, 5, [], 5), isInput: true }),
    () => ({ bytes: message(random, 6, [...head], clipboard), isInput: true }),
    () => ({ bytes: message(random, 250, [], 3), isInput: true }),
    () => ({ bytes: message(random, 251, [0, 1, 1, 1, 1, size, 0], 16 * size), isInput: true }),
    () => ({ bytes: message(random, 255, [0], 10), isInput: true }),
    () => ({ bytes: message(random, 255, [1, 0, 2], 6), isInput: true }),
    () => ({ bytes: message(random, 255, [1, 0, random(2)], 0), isInput: true }),
  ];
  return choices[random(choices.length)]!();
}

function* cut(random: Random, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random(random(4) ? 7 : 2000);
    yield Buffer.from(bytes.subarray(at, at + length));
    at += length;
  }
}

const seeds = Array.from({ length: ROUNDS }, (_none, index) => index + 1);

describe('RfbClientFilter, fuzzed', () => {
  test('forwards exactly the display messages of a view-only client, in whatever pieces they arrive', () => {
    for (const seed of seeds) {
      const random = randomNumbers(seed);
      const messages = Array.from({ length: random(30) }, () => clientMessage(random));
      const allowed = messages.filter(({ isInput }) => !isInput).map(({ bytes }) => bytes);
      const filter = new RfbClientFilter(true);
      const sent = Buffer.concat([HANDSHAKE, ...messages.map(({ bytes }) => bytes)]);
      const forwarded = Buffer.concat([...cut(random, sent)].map((piece) => filter.pass(piece)));
      expect([seed, forwarded.equals(Buffer.concat([FORWARDED_HANDSHAKE, ...allowed]))]).toEqual([seed, true]);
    }
  });

  test('forwards every message of an operator', () => {
    for (const seed of seeds) {
      const random = randomNumbers(seed);
      const body = randomBytes(random, random(500));
      const filter = new RfbClientFilter(false);
      const forwarded = [...cut(random, Buffer.concat([HANDSHAKE, body]))].map((piece) => filter.pass(piece));
      const expected = Buffer.concat([FORWARDED_HANDSHAKE, body]);
      expect([seed, Buffer.concat(forwarded).equals(expected)]).toEqual([seed, true]);
    }
  });

  test('refuses random bytes or forwards no input message of them', () => {
    for (const seed of seeds) {
      const random = randomNumbers(seed);
      const filter = new RfbClientFilter(true);
      const forwarded: Buffer[] = [];
      try {
        for (const piece of cut(random, Buffer.concat([HANDSHAKE, randomBytes(random, 2000)])))
          forwarded.push(filter.pass(piece));
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_INPUT' });
      }
      // A second filter finds nothing to drop in the output of the first one.
      const output = Buffer.concat(forwarded);
      expect([seed, new RfbClientFilter(true).pass(output).equals(output)]).toEqual([seed, true]);
    }
  });
});

describe('readViewer, fuzzed', () => {
  const ignore = (): void => undefined;
  const recorder = (calls: string[]): ViewerMessages => ({
    send: ignore,
    joined: () => void calls.push('joined'),
    pixelFormat: ({ bitsPerPixel }) => void calls.push(`format ${bitsPerPixel}`),
    encodings: (numbers) => void calls.push(`encodings ${numbers.join()}`),
    updateRequest: (incremental, area) => void calls.push(`update ${incremental} ${JSON.stringify(area)}`),
    key: (down, keysym, keycode) => void calls.push(`key ${down} ${keysym} ${keycode}`),
    pointer: (buttons, x, y) => void calls.push(`pointer ${buttons} ${x} ${y}`),
    cutText: (text) => void calls.push(`text ${text.toString('hex')}`),
  });

  /** The calls, with the error at the end if there was one. */
  function read(pieces: Iterable<Buffer>): string[] {
    const calls: string[] = [];
    const parser = new ByteParser(readViewer(recorder(calls)));
    try {
      for (const piece of pieces) parser.push(piece);
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_INPUT' });
      calls.push(String(error));
    }
    return calls;
  }

  test('reads the same messages in whatever pieces they arrive, and refuses the rest with INVALID_INPUT', () => {
    for (const seed of seeds) {
      const random = randomNumbers(seed);
      const parts = Array.from({ length: random(20) }, () =>
        random(9) ? clientMessage(random).bytes : randomBytes(random, random(40)),
      );
      const bytes = Buffer.concat([HANDSHAKE, ...parts]);
      expect([seed, read(cut(random, bytes))]).toEqual([seed, read([bytes])]);
    }
  });
});

describe('ByteParser, fuzzed', () => {
  test('returns every byte once and in order', () => {
    for (const seed of seeds) {
      const random = randomNumbers(seed);
      const bytes = randomBytes(random, 3000);
      const read: Buffer[] = [];
      const parser = new ByteParser(
        (function* (): Parsing {
          for (;;) read.push(Buffer.from(yield random(random(3) ? 5 : 700)));
        })(),
      );
      for (const piece of cut(random, bytes)) parser.push(piece);
      const joined = Buffer.concat(read);
      expect([seed, joined.equals(bytes.subarray(0, joined.length))]).toEqual([seed, true]);
      expect(joined.length).toBeGreaterThan(bytes.length - 701);
    }
  });
});

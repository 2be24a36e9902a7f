import { JsonPruner, PrunedTooLong } from './json-pruner.js';

const prune = (text: string, pieceBytes = text.length * 4 + 1, maxBytes = 1_000_000) => {
  const pruner = new JsonPruner({ dropped: ['content', 'data'], maxBytes });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) pruner.write(bytes.subarray(at, at + pieceBytes));
  return pruner.end().toString();
};

const expected = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, part: unknown) => (name === 'content' || name === 'data' ? null : part)));

/** Mulberry32. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

const TEXTS = [
  'content',
  'data',
  '',
  'a"b',
  '\\',
  '\\"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'é',
  '💥',
  '"content":1',
  '\n',
  'x',
];
const SCALARS = [null, true, false, 0, -1.5e9, ...TEXTS];

function randomValue(below: (limit: number) => number, depth: number): unknown {
  const kind = below(depth > 4 ? 1 : 3);
  if (kind === 0) return SCALARS[below(SCALARS.length)];
  const parts = Array.from({ length: below(4) }, () => randomValue(below, depth + 1));
  return kind === 1 ? parts : Object.fromEntries(parts.map((part) => [TEXTS[below(TEXTS.length)], part]));
}

describe('JsonPruner', () => {
  test('keeps everything but the values of the dropped members', () => {
    expect(prune('{"type":"m.x","content":{"a":[1,{"content":2}]},"b" : { "data" :"}" } }')).toBe(
      '{"type":"m.x","content":null,"b" : { "data" :null} }',
    );
    expect(prune('["content","data",{"x":"content"}]')).toBe('["content","data",{"x":"content"}]');
  });

  test('equals parsing the whole and dropping then, in pieces of any length', () => {
    const below = numbers(20_261_122);
    for (let round = 0; round < 2_000; round++) {
      const value = { value: randomValue(below, 0) };
      const text = JSON.stringify(value, undefined, below(2) * 2);
      const pieceBytes = 1 + below(12);
      expect([text, JSON.parse(prune(text, pieceBytes))]).toEqual([text, expected(value)]);
    }
  });

  test.each(['{', '{"a":[}', '{"content":{}', '{"a" "b"}', '{"content":1}}', 'nonsense'])(
    'leaves %j invalid',
    (text) => {
      expect(() => JSON.parse(prune(text)) as unknown).toThrow(SyntaxError);
    },
  );

  test('takes no memory for what it drops, and refuses to keep more than its limit', () => {
    const long = 'x'.repeat(100_000);
    expect(prune(`{"content":"${long}","a":1}`, 1_000, 100)).toBe('{"content":null,"a":1}');
    expect(() => prune(`{"a":"${long}"}`, 1_000, 100)).toThrow(PrunedTooLong);
  });
});

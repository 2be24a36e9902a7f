import { toOneByteSource } from './vite.node.js';

const evaluate = (source: string): unknown => new Function(`return ${source}`)();

test.each([
  ["'a \u2026 b'", 'a \u2026 b'],
  ['`\u{1F600} ${1 + 1}`', '\u{1F600} 2'],
  ["/^[\u0410-\u042F]$/i.test('\u044F')", true],
  ["/^\u{1F600}$/u.test('\u{1F600}')", true],
  ["({ \u043F\u0443\u0442\u044C: 7 })['\u043F\u0443\u0442\u044C']", 7],
  ["'caf\u00E9' /* \u2026 */", 'caf\u00E9'],
])('a source of Latin-1 means the same: %s', (source, expected) => {
  const converted = toOneByteSource(source);
  expect(converted).toMatch(/^[\x00-\xff]*$/);
  expect(evaluate(converted)).toEqual(expected);
  expect(evaluate(source)).toEqual(expected);
});

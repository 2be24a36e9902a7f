import { addressOf, hashOf } from './address.js';
import { ago, duration, windowText } from './durations.js';
import { emptyList, MAX_KEPT, received, revealed } from './live-list.js';
import { printable } from './printable.js';

describe('printable', () => {
  test.each([
    ['@alice:example.org', '@alice:example.org'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['a\u202egnp.exe', 'a\\u{202e}gnp.exe'],
    ['a\u0000b\nc\u2028d', 'a\\u{0}b\\u{a}c\\u{2028}d'],
    ['zero\u200bwidth\u00adsoft', 'zero\\u{200b}width\\u{ad}soft'],
    ['half \ud800', 'half \\u{d800}'],
    ['ünïcödé 日本 עברית', 'ünïcödé 日本 עברית'],
  ])('shows %j as %j', (text, shown) => expect(printable(text)).toBe(shown));

  test('cuts a long name in the middle, and no character into halves', () => {
    const shown = printable(`@${'😀'.repeat(300)}:end`);
    expect([...shown]).toHaveLength(121);
    expect(shown.startsWith('@😀')).toBe(true);
    expect(shown.endsWith('😀:end')).toBe(true);
  });
});

describe('durations', () => {
  test.each([
    [0, '0 s'],
    [1, '1 s'],
    [59_001, '60 s'],
    [119_000, '119 s'],
    [120_000, '2 min'],
    [3_600_000, '60 min'],
    [7_200_001, '3 h'],
    [172_800_000, '2 d'],
  ])('%i ms are %s', (ms, text) => expect(duration(ms)).toBe(text));

  test.each([
    [60_000, '1 min'],
    [90_000, '90 s'],
    [86_400_000, '1 d'],
    [1, '1 ms'],
  ])('a window of %i ms is %s', (ms, text) => expect(windowText(ms)).toBe(text));

  test('a time ahead, of a clock that differs, is now', () => {
    expect([ago('1970-01-01T00:00:10Z', 12_000), ago('1970-01-01T00:00:10Z', 0)]).toEqual(['2 s ago', '0 s ago']);
  });
});

describe('the address', () => {
  test.each([['@a:b'], ['a&subject=c#d'], ['<b>\u202e'], ['100%']])('keeps the subject %j', (subject) => {
    expect(addressOf(hashOf('why', subject))).toEqual({ page: 'why', subject });
  });

  test.each([[''], ['#/nothing'], ['#/__proto__'], ['#why?']])('%j is a page', (hash) => {
    expect(['refusals', 'why']).toContain(addressOf(hash).page);
  });
});

describe('the live list', () => {
  test('shows the first entries at once, and keeps later ones back until they are asked for', () => {
    const first = received(emptyList, ['a', 'b'], 0);
    expect(first).toEqual({ shown: ['b', 'a'], waiting: [], left: 0 });
    const later = received(first, ['c', 'd'], 3);
    expect(later).toEqual({ shown: ['b', 'a'], waiting: ['d', 'c'], left: 3 });
    expect(revealed(later)).toEqual({ shown: ['d', 'c', 'b', 'a'], waiting: [], left: 3 });
  });

  test('stays bounded in a flood, and counts the others', () => {
    let list = received(emptyList, [-1], 0);
    for (let i = 0; i < 100; i++)
      list = received(
        list,
        Array.from({ length: 50 }, (_, n) => i * 50 + n),
        950,
      );
    expect([list.shown.length, list.waiting.length]).toEqual([1, MAX_KEPT]);
    expect(list.left).toBe(100 * 1_000 - MAX_KEPT);
    expect(revealed(list).shown).toHaveLength(MAX_KEPT);
    expect(revealed(list).shown[0]).toBe(4_999);
  });
});

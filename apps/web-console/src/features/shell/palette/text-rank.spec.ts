import { folded, hasLetters, markOf, RANK, rankOf } from './text-rank.js';

describe('rankOf', () => {
  test.each([
    ['web-01', 'web-01', RANK.exact],
    ['web-01', 'web', RANK.prefix],
    ['prod-web-01', 'web', RANK.wordStart],
    ['spiderweb-web', 'web', RANK.wordStart],
    ['spiderweb', 'web', RANK.part],
    ['db-1', 'web', undefined],
  ])('ranks "%s" for "%s" as %s', (text, wanted, rank) => expect(rankOf(text, wanted)).toBe(rank));

  test.each(['a.b', 'a+b(c)[d]', '^x$', 'a\\b', 'vm "1" & <2>', 'a*b?'])(
    'takes every character of "%s" literally',
    (name) => {
      expect(rankOf(folded(name), folded(name))).toBe(RANK.exact);
      expect(rankOf('axb-axxb', folded(name))).toBeUndefined();
    },
  );

  test('ignores the case, and the form of a Unicode letter', () => {
    expect(rankOf(folded('DB-Zürich'), folded('zu\u0308rich'))).toBe(RANK.wordStart);
  });
});

test('hasLetters needs the letters in their order', () => {
  expect(hasLetters('web-01', 'wb1')).toBe(true);
  expect(hasLetters('web-01', 'bw')).toBe(false);
  expect(hasLetters('web-01', 'web11')).toBe(false);
});

describe('markOf', () => {
  test('is the part of the label as it is written', () => expect(markOf('Prod-Web', ' web ')).toEqual([5, 8]));
  test('is missing without one part', () => {
    expect(markOf('web-1', 'x')).toBeUndefined();
    expect(markOf('web-1', ' ')).toBeUndefined();
    expect(markOf('İzmir web', 'web')).toBeUndefined();
  });
});

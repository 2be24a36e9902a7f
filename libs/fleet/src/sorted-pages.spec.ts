import { SortedPages } from './sorted-pages.js';

const textOf = (pages: { json(): readonly Buffer[] }): string => Buffer.concat(pages.json()).toString();
const parse = (pages: SortedPages<string>): unknown => JSON.parse(textOf(pages));

describe('SortedPages', () => {
  test('is an empty array without values', () => {
    expect(parse(new SortedPages((value) => value))).toEqual([]);
  });

  test('matches a plain map, whatever the order of changes', () => {
    const pages = new SortedPages<string>((value) => value);
    const model = new Map<string, string>();
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    for (let step = 0; step < 5000; step++) {
      const key = `k${String(random(700)).padStart(4, '0')}`;
      if (random(3) === 0) {
        expect(pages.delete(key)).toBe(model.delete(key));
      } else {
        pages.set(key, `${key}@${step}`);
        model.set(key, `${key}@${step}`);
      }
      if (step % 250 === 0)
        expect(parse(pages)).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value));
    }
    expect(pages.size).toBe(model.size);
    expect([...pages.values()]).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value));
  });

  test('serializes only the changed page again', () => {
    let written = 0;
    const pages = new SortedPages<number>((value) => {
      written++;
      return value;
    });
    for (let index = 0; index < 10_000; index++) pages.set(String(index).padStart(6, '0'), index);
    pages.json();
    written = 0;
    pages.set('005000', -1);
    expect(JSON.parse(textOf(pages))[5000]).toBe(-1);
    expect(written).toBeLessThanOrEqual(128);
  });

  test('returns the same bytes while nothing changes', () => {
    const pages = new SortedPages<string>((value) => value);
    pages.set('a', 'x');
    const first = textOf(pages);
    expect(pages.json()).toBe(pages.json());
    expect(textOf(pages)).toBe(first);
  });

  test('keeps the pieces of unchanged pages, whichever page changes', () => {
    const pages = new SortedPages<number>((value) => `${value}`.padEnd(2000));
    for (let index = 0; index < 1000; index++) pages.set(String(index).padStart(6, '0'), index);
    for (const key of ['000000', '000500', '000999']) {
      const before = pages.pages();
      expect(before.length).toBeGreaterThan(10);
      pages.set(key, -1);
      const after = pages.pages();
      expect(after.filter((chunk) => !before.includes(chunk))).toHaveLength(1);
      expect(JSON.parse(textOf(pages))).toHaveLength(1000);
    }
  });

  test('joins the pages of a large array when it is sent again, but not those of a huge one', () => {
    const pages = new SortedPages<number>((value) => `${value}`.padEnd(20_000));
    const fill = (from: number, to: number): void => {
      for (let index = from; index < to; index++) pages.set(String(index).padStart(6, '0'), index);
    };
    fill(0, 20);
    expect(pages.json()).toHaveLength(1);
    fill(20, 300);
    expect(pages.json().length).toBeGreaterThan(2);
    expect(pages.json()).toEqual([Buffer.concat(pages.pages())]);
    fill(300, 1000);
    pages.json();
    expect(pages.json()).toBe(pages.pages());
  });

  test('stays an array when its first page becomes empty', () => {
    const pages = new SortedPages<number>((value) => value);
    for (let index = 0; index < 300; index++) pages.set(String(index).padStart(6, '0'), index);
    pages.json();
    for (let index = 0; index < 300; index++) {
      pages.delete(String(index).padStart(6, '0'));
      expect(JSON.parse(textOf(pages))).toEqual(Array.from({ length: 299 - index }, (_none, rest) => index + 1 + rest));
    }
  });
});

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

  test('returns the pages of a large array after a change and joins them for later calls', () => {
    const pages = new SortedPages<number>((value) => `${value}`.padEnd(2000));
    for (let index = 0; index < 1000; index++) pages.set(String(index).padStart(6, '0'), index);
    const first = pages.json();
    expect(first.length).toBeGreaterThan(10);
    expect(pages.json()).toEqual([Buffer.concat(first)]);
    pages.set('000500', -1);
    const second = pages.json();
    expect(second.filter((chunk) => first.includes(chunk)).length).toBeGreaterThan(second.length - 3);
  });
});

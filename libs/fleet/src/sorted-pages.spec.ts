import { SortedPages } from './sorted-pages.js';

const parse = (pages: SortedPages<string>): unknown => JSON.parse(pages.json().toString());

describe('SortedPages', () => {
  test('is an empty array without values', () => {
    expect(parse(new SortedPages((value) => value))).toEqual([]);
  });

  test('agrees with a plain map, whatever the order of changes', () => {
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

  test('writes only the page again that changed', () => {
    let written = 0;
    const pages = new SortedPages<number>((value) => {
      written++;
      return value;
    });
    for (let index = 0; index < 10_000; index++) pages.set(String(index).padStart(6, '0'), index);
    pages.json();
    written = 0;
    pages.set('005000', -1);
    expect(JSON.parse(pages.json().toString())[5000]).toBe(-1);
    expect(written).toBeLessThanOrEqual(128);
  });

  test('answers the same bytes while nothing changes', () => {
    const pages = new SortedPages<string>((value) => value);
    pages.set('a', 'x');
    expect(pages.json()).toBe(pages.json());
  });
});

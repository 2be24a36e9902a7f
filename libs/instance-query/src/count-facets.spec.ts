import fc from 'fast-check';
import { compileQuery } from './compile-query.js';
import { countFacets } from './count-facets.js';
import { chosenValues, withValues } from './edit-query.js';
import { formatQuery } from './format-query.js';
import { parseQuery } from './parse-query.js';
import { arbitraryEntry, arbitraryQuery } from './testing/arbitrary-query.js';
import { buildEntry, reader } from './testing/build-entry.js';

const entries = [
  buildEntry({ name: 'web-1', tags: ['prod', 'linux'] }),
  buildEntry({ name: 'web-2', tags: ['prod'], context: 'other' }),
  buildEntry({ name: 'web-3', status: 'Stopped' }),
  buildEntry({ name: 'db-1', status: 'Paused' }),
];
const count = (text: string) => countFacets(parseQuery(text), entries, reader, ['status', 'context', 'tag']);

describe('countFacets', () => {
  test('counts the values of the matching entries, the most frequent first, without those that none has', () => {
    expect(count('web')).toEqual({
      matched: 3,
      counts: {
        status: [
          { value: 'Running', count: 2 },
          { value: 'Stopped', count: 1 },
        ],
        context: [
          { value: 'lab', count: 2 },
          { value: 'other', count: 1 },
        ],
        tag: [
          { value: 'prod', count: 2 },
          { value: 'linux', count: 1 },
        ],
      },
    });
  });

  test('does not limit the counts of a field by the choice in it, but those of the others', () => {
    const { matched, counts } = count('web status:stopped');
    expect(matched).toBe(1);
    expect(counts.status.map(({ value }) => value)).toEqual(['Running', 'Stopped']);
    expect(counts.context).toEqual([{ value: 'lab', count: 1 }]);
    expect(count('web not:status:stopped').counts.status).toEqual([{ value: 'Running', count: 2 }]);
    expect(count('tag:linux').counts.tag).toEqual([
      { value: 'linux', count: 1 },
      { value: 'prod', count: 1 },
    ]);
  });

  test('agrees with counting for each field separately', () => {
    const fields = ['status', 'node', 'tag'] as const;
    fc.assert(
      fc.property(arbitraryQuery, fc.array(arbitraryEntry, { maxLength: 8 }), (query, list) => {
        const facets = countFacets(query, list, reader, fields);
        expect(facets.matched).toBe(list.filter(compileQuery(query, reader)).length);
        for (const field of fields) {
          const free = field === 'tag' ? query : withValues(query, field, []);
          const values = list.filter(compileQuery(free, reader)).flatMap((entry) => reader.texts[field](entry));
          const expected = new Map<string, number>();
          for (const value of values) expected.set(value, (expected.get(value) ?? 0) + 1);
          expect(new Map(facets.counts[field].map((one) => [one.value, one.count]))).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the values of a field in a query', () => {
  const edit = (text: string, values: string[]): string => formatQuery(withValues(parseQuery(text), 'status', values));

  test('are those of all its terms that are not negated', () =>
    expect(chosenValues(parseQuery('status:Running,a web status:b not:status:c'), 'status')).toEqual([
      'running',
      'a',
      'b',
    ]));

  test.each([
    ['web', ['stopped'], 'web status:stopped'],
    ['status:a web status:b not:status:c', ['d', 'e'], 'status:d,e web not:status:c'],
    ['status:a web', [], 'web'],
  ])('"%s" with %j is "%s"', (text, values, expected) => expect(edit(text, values)).toBe(expected));
});

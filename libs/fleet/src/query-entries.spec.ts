import { buildVm } from '@headgate/testing';
import type { FleetEntry } from './fleet-entry.js';
import { inListOrder, queryEntries, type EntryQuery } from './query-entries.js';

const entry = (name: string, overrides: Parameters<typeof buildVm>[0] = {}): FleetEntry => ({
  instance: buildVm({ ...overrides, ref: { name, ...overrides.ref } }),
  stale: false,
});

const fleet = [
  entry('a', { cpu: 4, tags: ['prod'] }),
  entry('b', { cpu: 1, status: 'Running', ip: '10.0.0.7' }),
  entry('c', { cpu: 4 }),
  entry('d', { cpu: 2, ref: { context: 'other' } }),
];

const names = (query: EntryQuery): string[] =>
  queryEntries(fleet, query).entries.map(({ instance }) => instance.ref.name);

test('inListOrder sorts by context, namespace and name', () => {
  const shuffled = [fleet[3]!, fleet[1]!, fleet[0]!, entry('a', { ref: { namespace: 'apps' } }), fleet[2]!];
  expect(inListOrder(shuffled).map(({ instance: { ref } }) => `${ref.context}/${ref.namespace}/${ref.name}`)).toEqual([
    'lab/apps/a',
    'lab/default/a',
    'lab/default/b',
    'lab/default/c',
    'other/default/d',
  ]);
});

describe('queryEntries', () => {
  test('finds entries that contain every word', () => {
    expect(names({ words: ['PROD'] })).toEqual(['a']);
    expect(names({ words: ['running', '10.0'] })).toEqual(['b']);
    expect(names({ words: ['running', 'prod'] })).toEqual([]);
    expect(names({ context: 'other' })).toEqual(['d']);
  });

  test('finds entries of a folder and of the folders in it', () => {
    const foldered = ['prod', 'prod/db', 'production', undefined].map((folder, index) => ({
      ...entry(`e${index}`),
      folder,
    }));
    const found = (query: EntryQuery): string[] =>
      queryEntries(foldered, query).entries.map(({ instance }) => instance.ref.name);
    expect(found({ folder: 'prod' })).toEqual(['e0', 'e1']);
    expect(found({ words: ['production'] })).toEqual(['e2']);
  });

  test('sorts by a field, then by ref, in both directions', () => {
    expect(names({ sort: 'cpu' })).toEqual(['b', 'd', 'a', 'c']);
    expect(names({ sort: 'cpu', descending: true })).toEqual(['a', 'c', 'd', 'b']);
  });

  test('sorts names in natural order, and pages through them in it', () => {
    const numbered = ['web-10', 'web-2', 'db-1', 'web-02', 'web'].map((name) => entry(name));
    const page = queryEntries(numbered, { sort: 'name', limit: 3 });
    const rest = queryEntries(numbered, { sort: 'name', cursor: page.cursor });
    const sorted = [...page.entries, ...rest.entries].map(({ instance }) => instance.ref.name);
    expect(sorted).toEqual(['db-1', 'web', 'web-02', 'web-2', 'web-10']);
  });

  test.each([undefined, 'cpu', 'name'] as const)('pages through all of them once, sorted by %s', (sort) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = queryEntries(fleet, { sort, limit: 1, cursor });
      seen.push(...page.entries.map(({ instance }) => instance.ref.name));
      cursor = page.cursor;
    } while (cursor);
    expect(seen).toEqual(names({ sort }));
  });

  test('refuses an invalid cursor and a cursor of another order', () => {
    expect(() => names({ cursor: 'abc' })).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    const { cursor } = queryEntries(fleet, { sort: 'cpu', limit: 1 });
    expect(() => names({ sort: 'name', cursor })).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });
});

import { parseQuery } from '@headgate/instance-query';
import { buildStoppedVm, buildVm } from '../../testing/build-vm.js';
import { bytesOf } from '../quantity/quantity.js';
import { NO_FILTERS, type Filters } from './list-filters.js';
import { filterEntries, hasDistinctValues, sortEntries, tally } from './list-view.js';

const names = (entries: readonly { name: string }[]): string[] => entries.map(({ name }) => name);

describe('filterEntries', () => {
  const entries = [
    buildVm({ name: 'web-1', tags: ['prod', 'linux'] }),
    buildVm({ name: 'web-2', tags: ['prod'], context: 'lab', node: 'node-9' }),
    buildStoppedVm({ name: 'db-1', namespace: 'data' }),
  ];
  const found = (search: string, filters: Partial<Filters> = {}): string[] =>
    names(filterEntries(entries, { search: parseQuery(search), filters: { ...NO_FILTERS, ...filters } }));

  test.each([
    ['web', ['web-1', 'web-2']],
    ['WEB node-9', ['web-2']],
    ['  linux   web ', ['web-1']],
    ['stopped data', ['db-1']],
    ['web stopped', []],
  ])('finds entries with all words of "%s", in any order', (search, expected) =>
    expect(found(search)).toEqual(expected),
  );

  test('accepts any of the chosen statuses, contexts, namespaces, and nodes', () => {
    expect(found('', { status: ['Running', 'Stopped'] })).toHaveLength(3);
    expect(found('', { context: ['lab'] })).toEqual(['web-2']);
    expect(found('', { namespace: ['data', 'shop'] })).toEqual(['db-1']);
    expect(found('', { node: ['node-1'] })).toEqual(['web-1']);
  });

  test('requires all chosen tags', () => expect(found('', { tag: ['prod', 'linux'] })).toEqual(['web-1']));

  test('requires every filter and the search at the same time', () => {
    expect(found('web', { status: ['Running'], context: ['lab'] })).toEqual(['web-2']);
    expect(found('db', { status: ['Running'] })).toEqual([]);
  });
});

describe('sortEntries', () => {
  const sorted = (entries: Parameters<typeof sortEntries>[0], by: (vm: never) => string | number, descending = false) =>
    names(sortEntries(entries as readonly { name: string }[], by as () => string, descending));

  test('sorts texts in natural order', () => {
    const entries = ['web-10', 'web-2', 'web-1'].map((name) => buildVm({ name }));
    expect(sorted(entries, ({ name }: { name: string }) => name)).toEqual(['web-1', 'web-2', 'web-10']);
  });

  test('sorts memory by size', () => {
    const entries = ['8Gi', '512Mi', '16G'].map((mem) => buildVm({ name: mem, mem }));
    expect(sorted(entries, ({ mem }: { mem: string }) => bytesOf(mem), true)).toEqual(['16G', '8Gi', '512Mi']);
  });

  test('keeps entries without a value last in both directions', () => {
    const entries = [
      buildStoppedVm({ name: 'off' }),
      buildVm({ name: 'a', node: 'n1' }),
      buildVm({ name: 'b', node: 'n2' }),
    ];
    const node = (vm: { node?: string }): string => vm.node ?? '';
    expect(sorted(entries, node)).toEqual(['a', 'b', 'off']);
    expect(sorted(entries, node, true)).toEqual(['b', 'a', 'off']);
  });

  test('is stable and does not modify its input', () => {
    const entries = Object.freeze(['b', 'a', 'c'].map((name) => buildVm({ name, cpu: 2 })));
    expect(sorted(entries, ({ cpu }: { cpu: number }) => cpu, true)).toEqual(['b', 'a', 'c']);
  });
});

test('10,000 entries are searched, filtered, and sorted correctly', () => {
  const entries = Array.from({ length: 10_000 }, (_, index) =>
    buildVm({ name: `vm-${(index * 7919) % 10_000}`, cpu: index % 16, tags: index % 2 ? ['odd'] : [] }),
  );
  const found = filterEntries(entries, { search: parseQuery('vm- running'), filters: { ...NO_FILTERS, tag: ['odd'] } });
  const sorted = sortEntries(found, ({ cpu }) => cpu, true);
  expect(sorted).toHaveLength(5000);
  expect(sorted[0]?.cpu).toBe(15);
  expect(sorted.every((vm, index) => index === 0 || (sorted[index - 1]?.cpu ?? 0) >= vm.cpu)).toBe(true);
});

test('tally counts each value, the most frequent first', () => {
  expect(tally(['b', 'a', 'b', 'c'])).toEqual([
    { value: 'b', count: 2 },
    { value: 'a', count: 1 },
    { value: 'c', count: 1 },
  ]);
});

test.each([
  [['a', 'a'], 2, false],
  [['a', 'b'], 2, true],
  [['a'], 1, true],
  [[], 1, false],
])('%j has %d different values: %s', (values, atLeast, expected) =>
  expect(hasDistinctValues(values, (value) => [value], atLeast)).toBe(expected),
);

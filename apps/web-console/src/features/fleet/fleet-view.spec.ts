import { buildStoppedVm, buildVm } from '../../testing/build-vm.js';
import { readPlace, writePlace } from './fleet-place.js';
import { filterFleet, sortFleet, tally, viewFleet } from './fleet-view.js';

const everything = readPlace(new URLSearchParams());
const names = (entries: readonly { name: string }[]): string[] => entries.map(({ name }) => name);

describe('filterFleet', () => {
  const entries = [
    buildVm({ name: 'web-1', tags: ['prod', 'linux'] }),
    buildVm({ name: 'web-2', tags: ['prod'], context: 'lab', node: 'node-9' }),
    buildStoppedVm({ name: 'db-1', namespace: 'data' }),
  ];

  test.each([
    ['web', ['web-1', 'web-2']],
    ['WEB node-9', ['web-2']],
    ['  linux   web ', ['web-1']],
    ['stopped data', ['db-1']],
    ['web stopped', []],
  ])('finds by all words of «%s», wherever they stand', (search, found) => {
    expect(names(filterFleet(entries, { ...everything, search }))).toEqual(found);
  });

  test('takes any of several statuses and contexts, and demands all tags', () => {
    expect(names(filterFleet(entries, { ...everything, statuses: ['Running', 'Stopped'] }))).toHaveLength(3);
    expect(names(filterFleet(entries, { ...everything, contexts: ['lab'] }))).toEqual(['web-2']);
    expect(names(filterFleet(entries, { ...everything, tags: ['prod', 'linux'] }))).toEqual(['web-1']);
  });
});

describe('sortFleet', () => {
  test('orders names as people count', () => {
    const entries = ['web-10', 'web-2', 'web-1'].map((name) => buildVm({ name }));
    expect(names(sortFleet(entries, { sort: 'name', descending: false }))).toEqual(['web-1', 'web-2', 'web-10']);
  });

  test('orders memory by size, not by its digits', () => {
    const entries = [
      buildVm({ name: 'a', mem: '8Gi' }),
      buildVm({ name: 'b', mem: '512Mi' }),
      buildVm({ name: 'c', mem: '16G' }),
    ];
    expect(names(sortFleet(entries, { sort: 'mem', descending: true }))).toEqual(['c', 'a', 'b']);
  });

  test('keeps those without a value last in both directions', () => {
    const entries = [
      buildStoppedVm({ name: 'off' }),
      buildVm({ name: 'a', node: 'n1' }),
      buildVm({ name: 'b', node: 'n2' }),
    ];
    expect(names(sortFleet(entries, { sort: 'node', descending: false }))).toEqual(['a', 'b', 'off']);
    expect(names(sortFleet(entries, { sort: 'node', descending: true }))).toEqual(['b', 'a', 'off']);
  });

  test('changes nothing in what it was given', () => {
    const entries = Object.freeze([buildVm({ name: 'b' }), buildVm({ name: 'a' })]);
    expect(names(sortFleet(entries, { sort: 'name', descending: false }))).toEqual(['a', 'b']);
  });
});

test('10,000 entries are searched, filtered and sorted right', () => {
  const entries = Array.from({ length: 10_000 }, (_, index) =>
    buildVm({ name: `vm-${(index * 7919) % 10_000}`, cpu: index % 16, tags: index % 2 ? ['odd'] : [] }),
  );
  const found = viewFleet(entries, {
    ...everything,
    search: 'vm- running',
    tags: ['odd'],
    sort: 'cpu',
    descending: true,
  });
  expect(found).toHaveLength(5000);
  expect(found[0]?.cpu).toBe(15);
  expect(found.every((vm, index) => index === 0 || (found[index - 1]?.cpu ?? 0) >= vm.cpu)).toBe(true);
});

test('tally counts each value, the most frequent first', () => {
  expect(tally(['b', 'a', 'b', 'c'])).toEqual([
    { value: 'b', count: 2 },
    { value: 'a', count: 1 },
    { value: 'c', count: 1 },
  ]);
});

describe('the place in the address', () => {
  test('is read back as it was written', () => {
    const place = {
      search: 'a b',
      statuses: ['Running', 'Paused'],
      contexts: ['lab/x'],
      tags: ['prod'],
      sort: 'mem',
      descending: true,
    } as const;
    expect(readPlace(new URLSearchParams(writePlace(place).toString()))).toEqual(place);
  });

  test('is empty where nothing was chosen', () => {
    expect(writePlace(everything).toString()).toBe('');
  });

  test('ignores a column that does not exist', () => {
    expect(readPlace(new URLSearchParams('sort=-shoe-size'))).toMatchObject({ sort: 'name', descending: true });
  });
});

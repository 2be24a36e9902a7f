import { divide } from './divide.js';

const named = (...names: string[]): { path: string }[] => names.map((name) => ({ path: `/p/src/${name}` }));
const paths = (groups: { path: string }[][]): string[][] =>
  groups.map((group) => group.map(({ path }) => path.replace('/p/src/', '')));
const many = Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, '0')}.spec.ts`);

test('groups are the same in each order of the files, and have at most 8', () => {
  const read = (): string => '';
  const groups = paths(divide(named(...many), { read }));
  expect(groups.map(({ length }) => length)).toEqual([8, 8, 4]);
  expect(groups.flat()).toEqual(many);
  expect(paths(divide(named(...many.toReversed()), { read }))).toEqual(groups);
});

test('every worker has something to do', () => {
  const groups = divide(named(...many.slice(0, 6)), { read: () => '', workers: 2 });
  expect(groups.map(({ length }) => length)).toEqual([3, 3]);
  expect(divide([], { workers: 2 })).toEqual([]);
});

test('spec files with real programs run alone', () => {
  const list = [{ path: '/p/a.int.spec.ts' }, { path: '/p/a.stress.spec.ts' }, { path: '/apps/vm-e2e/src/a.spec.ts' }];
  expect(divide(list, { read: () => '' })).toHaveLength(3);
});

test.each([
  ['jest.useFakeTimers();', 'alone'],
  ["jest.unstable_mockModule('x', () => ({}));", 'alone'],
  ["process.env['PATH'] = folder;", 'alone'],
  ['process.env.PATH ??= folder;', 'alone'],
  ["delete process.env['PATH'];", 'alone'],
  ["process.on('SIGTERM', stop);", 'alone'],
  ['globalThis.fetch = () => undefined;', 'alone'],
  ["Object.defineProperty(navigator, 'locks', {});", 'alone'],
  ['String.prototype.indexOf = counted;', 'alone'],
  ["if (process.env['PATH'] === '') return;", 'together'],
  ['env: { ...process.env, HOME: folder }', 'together'],
  ['expect(globalThis.fetch === undefined)', 'together'],
  ['Object.assign(copy, { a: 1 });', 'together'],
])('a file with %s runs %s', (text, how) => {
  const groups = divide(named('a.spec.ts', 'b.spec.ts'), { read: (path) => (path.endsWith('a.spec.ts') ? text : '') });
  expect(groups).toHaveLength(how === 'alone' ? 2 : 1);
});

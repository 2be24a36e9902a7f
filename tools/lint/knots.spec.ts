import { compareKnots, knotsOf, outOfOrder, roomGraph } from './knots.mjs';

const graphOf = (imports: Record<string, string[]>): Map<string, Set<string>> =>
  roomGraph(
    Object.entries(imports).map(([source, targets]) => ({
      source,
      dependencies: targets.map((resolved) => ({ resolved })),
    })),
  );

describe('knots of folders', () => {
  test('are found although no files import each other', () => {
    const graph = graphOf({
      'a/one.ts': ['b/one.ts'],
      'b/one.ts': [],
      'b/two.ts': ['c/one.ts'],
      'c/one.ts': ['a/two.ts'],
      'a/two.ts': [],
      'd/one.ts': ['a/one.ts'],
    });
    expect(knotsOf(graph)).toEqual([['a', 'b', 'c']]);
  });

  test('do not include files next to folders that only use these folders', () => {
    const graph = graphOf({
      'src/index.ts': ['src/a/one.ts'],
      'src/a/one.ts': ['src/names.ts'],
      'src/names.ts': [],
    });
    expect(knotsOf(graph)).toEqual([]);
  });

  test('include a file next to folders that imports from a folder which imports it', () => {
    const graph = graphOf({
      'src/names.ts': ['src/a/one.ts'],
      'src/a/one.ts': [],
      'src/a/two.ts': ['src/names.ts'],
    });
    expect(knotsOf(graph)).toEqual([['src/a', 'src/names.ts']]);
  });
});

describe('compareKnots', () => {
  const known = [['a', 'b', 'c']];

  test('accepts a known knot', () => {
    expect(compareKnots([['a', 'b', 'c']], known)).toEqual([]);
  });

  test('reports a new knot', () => {
    expect(
      compareKnots(
        [
          ['a', 'b', 'c'],
          ['d', 'e'],
        ],
        known,
      ),
    ).toEqual(['These folders import each other in a circle:\n  d\n  e']);
  });

  test('reports a folder that joins a knot', () => {
    expect(compareKnots([['a', 'b', 'c', 'd']], known)[0]).toMatch(/in a circle:\n {2}a\n {2}b\n {2}c\n {2}d/);
  });

  test('reports a line that can become shorter', () => {
    expect(compareKnots([['a', 'b']], known)).toEqual([
      expect.stringMatching(/smaller now or gone.*\n {2}a\n {2}b\n {2}c/),
      'It is now:\n  a\n  b',
    ]);
    expect(compareKnots([], known)).toHaveLength(1);
  });
});

describe('outOfOrder', () => {
  const order = { root: 'app/src', tiers: [['config'], ['platform', 'store'], ['*'], ['*.ts'], ['reference']] };
  const imports = (from: string, to: string): string[] =>
    outOfOrder(new Map([[`app/src/${from}`, new Set([`app/src/${to}`])]]), order);

  test.each([
    ['config', 'store'],
    ['platform', 'vms/create'],
    ['vms', 'app.module.ts'],
  ])('reports an import from %s to %s', (from, to) => {
    expect(imports(from, to)).toEqual([expect.stringContaining(`app/src/${from} imports from app/src/${to}`)]);
  });

  test.each([
    ['store', 'config'],
    ['store', 'platform'],
    ['vms', 'folders'],
    ['vms', '../../libs/fleet'],
    ['main.ts', 'vms'],
    ['reference', 'app.module.ts'],
  ])('accepts an import from %s to %s', (from, to) => {
    expect(imports(from, to)).toEqual([]);
  });
});

import { knotsOf, outOfOrder, roomGraph } from './knots.mjs';

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

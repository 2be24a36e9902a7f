// Which folders import each other in a circle, and which ones import from above in the order of vm-service. Files are
// checked by dependency-cruiser alone; folders that import each other can't be read, moved or tested one after the
// other either.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import { knotsOf, outOfOrder, roomGraph } from './knots.mjs';

const root = join(import.meta.dirname, '../..');
/** Tests and benchmarks may import from every folder of their project. */
const EXCLUDED = String.raw`(^|/)(dist|node_modules|testing|bench)/|\.(spec|contract|bench)\.tsx?$|/jest[^/]*\.js$`;

const VM_SERVICE = {
  root: 'apps/vm-service/src',
  tiers: [
    ['config', 'engines', 'composition'],
    ['platform'],
    ['store'],
    ['access', 'folder-tree', 'fleet', 'identity', 'tasks'],
    ['*'],
    ['*.ts'],
    ['reference'],
  ],
};

process.chdir(root);
const { output } = await cruise(
  ['apps', 'libs'],
  {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: EXCLUDED },
  },
  {
    extensions: ['.ts', '.tsx', '.js', '.mjs'],
    exportsFields: ['exports'],
    conditionNames: ['import', 'types'],
  },
  { tsConfig: { options: JSON.parse(readFileSync('tsconfig.base.json', 'utf8')).compilerOptions } },
);
const graph = roomGraph(output.modules);
const problems = [
  ...knotsOf(graph).map((knot) => `These folders import each other in a circle:\n  ${knot.join('\n  ')}`),
  ...outOfOrder(graph, VM_SERVICE),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

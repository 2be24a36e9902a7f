// Which folders import each other in a circle. Files are checked by dependency-cruiser alone; folders that import each
// other can't be read, moved or tested one after the other either. Circles that exist are listed in known-knots.mjs; a
// new one fails, and so does a line there that is not needed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import { KNOWN_KNOTS } from './known-knots.mjs';
import { compareKnots, knotsOf, outOfOrder, roomGraph } from './knots.mjs';

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
const knots = knotsOf(graph);
if (process.argv.includes('--print')) console.log(JSON.stringify(knots, undefined, 2));
const problems = [...compareKnots(knots, KNOWN_KNOTS), ...outOfOrder(graph, VM_SERVICE)];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${KNOWN_KNOTS.length} known knots of folders, no other`);

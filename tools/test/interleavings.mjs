// npm run interleavings -- [--runs N] [--killed N] [--seed N] [--path P]: runs that many random interleavings of
// several callers in a simulated cluster, by default 9,000 with one service and 1,000 with three replicas that are
// killed. A failure prints its seed and its path, which repeat it:
//   npm run interleavings -- --runs 1 --killed 0 --seed 67 --path 12
import { parseArgs } from 'node:util';
import { ensureInstalled, say } from '../start/workspace.mjs';
import { runSpec } from './run-spec.mjs';

const USAGE =
  'Usage: npm run interleavings -- [--runs 0-9999999] [--killed 0-9999999] [--seed N] [--path 1:2:3 with --runs 0 or --killed 0]';

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: 'string', default: '9000' },
        killed: { type: 'string', default: '1000' },
        seed: { type: 'string' },
        path: { type: 'string' },
      },
    });
    const { runs, killed, seed, path } = values;
    const areNumbers = [runs, killed].every((text) => /^\d{1,7}$/.test(text)) && /^-?\d{1,10}$/.test(seed ?? '1');
    const isOneKind = path === undefined || Number(runs) === 0 || Number(killed) === 0;
    if (areNumbers && isOneKind && /^\d+(:\d+)*$/.test(path ?? '1')) return values;
  } catch (error) {
    say(error.message);
  }
  say(USAGE);
  return process.exit(2);
}

const { runs, killed, seed, path } = readOptions();
await ensureInstalled();
const env = {
  HEADGATE_TEST_INTERLEAVINGS: runs,
  HEADGATE_TEST_KILLED_INTERLEAVINGS: killed,
  ...(seed !== undefined && { HEADGATE_TEST_INTERLEAVING_SEED: seed }),
  ...(path !== undefined && { HEADGATE_TEST_INTERLEAVING_PATH: path }),
};
const specs = [
  [runs, 'interleavings.stress.spec.ts'],
  [killed, 'interleavings-killed.stress.spec.ts'],
];
let isPassed = true;
for (const [count, spec] of specs)
  if (Number(count) > 0) isPassed = (await runSpec(`src/testing/interleavings/${spec}`, env)) && isPassed;
process.exit(isPassed ? 0 : 1);

// npm run interleavings -- [--runs N] [--seed N] [--path P]: runs that many random interleavings of several callers in a simulated cluster, by default
// 10,000. A failure prints its seed and its path, which repeat it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, findNode, projectEnvironment, root, say } from '../start/workspace.mjs';

const USAGE = 'Usage: npm run interleavings -- [--runs 1-1000000] [--seed N] [--path 1:2:3]';

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string' }, path: { type: 'string' } },
    });
    const { runs, seed, path } = values;
    const isValid = /^[1-9]\d{0,6}$/.test(runs) && /^-?\d{1,10}$/.test(seed ?? '1') && /^\d+(:\d+)*$/.test(path ?? '1');
    if (isValid) return values;
  } catch (error) {
    say(error.message);
  }
  say(USAGE);
  return process.exit(2);
}

const { runs, seed, path } = readOptions();
await ensureInstalled();
const spec = 'src/testing/interleavings/interleavings.spec.ts';
const child = spawn(findNode(), [join(root, 'node_modules/jest/bin/jest.js'), spec], {
  cwd: join(root, 'apps/vm-service'),
  stdio: 'inherit',
  env: {
    ...projectEnvironment(),
    NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
    HEADGATE_TEST_INTERLEAVINGS: runs,
    ...(seed !== undefined && { HEADGATE_TEST_INTERLEAVING_SEED: seed }),
    ...(path !== undefined && { HEADGATE_TEST_INTERLEAVING_PATH: path }),
  },
});
child.once('close', (code) => process.exit(code === 0 ? 0 : 1));

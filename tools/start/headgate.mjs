// npm run -s headgate -- ARGS: builds the command line and runs it, on the terminal of this process.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, findNode, root } from './workspace.mjs';

/** Standard output belongs to the command line. */
const report = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`);

async function start() {
  await ensureInstalled(report);
  await ensureBuilt(['@headgate/cli'], report);
  // In the same process group, because only that may read from the terminal; Ctrl-C reaches it there.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => undefined);
  const child = spawn(findNode(), [join(root, 'apps/cli/dist/headgate.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
    // npm has changed the folder; files are named from the one of the user.
    cwd: process.env['INIT_CWD'] ?? process.cwd(),
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 1 : code));
  });
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);

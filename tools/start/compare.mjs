// npm run sandbox:compare -- --kubeconfig FILE: sends the same requests to a cluster and to the simulated one, and
// prints the differences.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { runOnNode } from './run-service.mjs';
import { ensureInstalled, root } from './workspace.mjs';

const library = join(root, 'libs/kubevirt-sandbox');

/** Bundles the program, which only developers need. */
function build() {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(root, 'tools/bench/vm-service/vite.config.js');
  const options = ['--ssr', 'src/compare/main.ts', '--outDir', 'dist/compare', '--logLevel', 'error'];
  execFileSync(process.execPath, [vite, 'build', ...options, '--config', config], { cwd: library, stdio: 'inherit' });
  return join(library, 'dist/compare/main.js');
}

async function start() {
  await ensureInstalled();
  return runOnNode(build(), [], [join(library, 'compare'), ...process.argv.slice(2)]);
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  },
);

// npm run test:cluster -- --kubeconfig FILE: runs the contract suites of the cluster adapter on a cluster, and writes a
// report.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { runOnNode } from './run-service.mjs';
import { ensureInstalled, root } from './workspace.mjs';

const library = join(root, 'libs/kube-adapter');

/** Bundles the program, which only developers need. */
function build() {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(root, 'tools/bench/vm-service/vite.config.js');
  const options = ['--ssr', 'src/cluster-suite/main.ts', '--outDir', 'dist/cluster-suite', '--logLevel', 'error'];
  execFileSync(process.execPath, [vite, 'build', ...options, '--config', config], { cwd: library, stdio: 'inherit' });
  return join(library, 'dist/cluster-suite/main.js');
}

async function start() {
  await ensureInstalled();
  const folder = process.env['INIT_CWD'] ?? process.cwd();
  return runOnNode(build(), [], [library, folder, ...process.argv.slice(2)]);
}

start().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  },
);

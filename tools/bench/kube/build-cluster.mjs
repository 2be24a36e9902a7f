import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/**
 * Bundles the simulated cluster like the applications.
 * @returns {string} its entry point
 */
export function buildCluster(folder) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(root, 'tools/bench/vm-service/vite.config.js');
  const entry = 'src/bench/changing-cluster.bench.ts';
  const args = ['build', '--ssr', entry, '--outDir', folder, '--logLevel', 'error', '--config', config];
  execFileSync(process.execPath, [vite, ...args], { cwd: join(root, 'libs/kubevirt-sandbox'), stdio: 'inherit' });
  return join(folder, 'changing-cluster.bench.js');
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './start-server.mjs';

const MAIN = join(import.meta.dirname, '../../vm-service/dist/main.js');

/**
 * Starts the built service over a simulated cluster, on a free port, with a data folder of its own.
 * @param {number} instances
 * @param {string[]} flags of Node
 */
export async function startSandboxService(instances, flags = []) {
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const args = [`--sandbox=${instances}`, '--listen', '127.0.0.1:0', '--data-dir', dataDir];
  const { url, stop } = await startServer(['--disable-warning=ExperimentalWarning', ...flags, MAIN, ...args]);
  return {
    url,
    stop: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

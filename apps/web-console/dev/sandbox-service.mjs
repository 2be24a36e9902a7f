import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, '../../vm-service/dist/main.js');

/**
 * Starts the built service over a simulated cluster, on a free port, with a data folder of its own.
 * @param {number} instances
 * @param {string[]} flags of Node
 */
export async function startSandboxService(instances, flags = []) {
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const args = [`--sandbox=${instances}`, '--listen', '127.0.0.1:0', '--data-dir', dataDir];
  const service = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...flags, MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(service, 'exit');
  const stop = async () => {
    service.kill();
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  };
  for await (const line of createInterface(service.stdout)) {
    const [, url] = /Headgate serves (\S+)/.exec(line) ?? [];
    // The rest of the output must not fill the pipe.
    service.stdout.resume();
    if (url) return { url, stop };
  }
  throw new Error('The service stopped before it printed its address.');
}

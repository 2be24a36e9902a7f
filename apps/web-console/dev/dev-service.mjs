import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../vm-service/dev-service.mjs', import.meta.url));

/**
 * Starts the real service over instances in memory, on a free port.
 * @param {string[]} options of apps/vm-service/dev-service.mjs
 */
export async function startDevService(options) {
  const service = spawn(process.execPath, [SCRIPT, '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(service, 'exit');
  const stop = async () => {
    service.kill();
    await exited;
  };
  for await (const line of createInterface(service.stdout)) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url) return { url, stop };
  }
  throw new Error('The service stopped before it printed its address.');
}

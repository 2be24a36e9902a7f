import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort, isInstalled, waitUntilListening } from './nginx.mjs';

/** A Redis server without data on disk; undefined if it is not installed. */
export async function startRedis(folder) {
  if (!isInstalled('redis-server', '--version')) return undefined;
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const redis = spawn('redis-server', args, { stdio: 'ignore' });
  await waitUntilListening(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    async end() {
      const ended = once(redis, 'exit');
      redis.kill('SIGTERM');
      await ended;
    },
  };
}

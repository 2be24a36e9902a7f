import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Starts a server that prints its address.
 * @param {string[]} args of Node
 */
export async function startServer(args) {
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(server, 'exit');
  const stop = async () => {
    server.kill();
    await exited;
  };
  for await (const line of createInterface(server.stdout)) {
    const [url] = /http:\S+/.exec(line) ?? [];
    // The rest of the output must not fill the pipe.
    server.stdout.resume();
    if (url) return { url, stop };
  }
  throw new Error('The service stopped before it printed its address.');
}

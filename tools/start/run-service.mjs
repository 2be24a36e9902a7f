import { spawn } from 'node:child_process';
import { findNode, projectEnvironment } from './workspace.mjs';

/**
 * How Node runs the VM service: with little room for what is young in memory. V8 would let it grow past 100 MiB under a
 * large fleet and not give it back; and the buffers of a fast console are freed by the quick collection of a small young
 * generation instead of by marking the whole heap, which costs a third of the throughput. deploy/ has the same.
 */
export const VM_SERVICE_FLAGS = ['--max-semi-space-size=2'];

/**
 * Runs a built application until it ends, and hands Ctrl-C on to it.
 * @param {string} main
 * @param {string[]} args
 * @param {string[]} flags of Node
 * @returns {Promise<number>} its exit code
 */
export async function runService(main, args, flags = []) {
  // A group of its own: Ctrl-C reaches it once, through us, and not a second time from the terminal.
  const child = spawn(findNode(), ['--disable-warning=ExperimentalWarning', ...flags, main, ...args], {
    stdio: 'inherit',
    env: { ...projectEnvironment(), NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? `${main}.cache` },
    detached: true,
  });
  const handOn = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, handOn);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

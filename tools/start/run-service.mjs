import { spawn } from 'node:child_process';
import { findNode, projectEnvironment } from './workspace.mjs';

/**
 * How Node runs the VM service: with little room for what is young in memory. V8 would let it grow past 100 MiB under a
 * large fleet and not give it back; and the buffers of a cluster's fast console, which are not read into again, are freed
 * by the quick collection of a small young generation instead of by marking the whole heap. deploy/ has the same.
 */
export const VM_SERVICE_FLAGS = ['--max-semi-space-size=2'];

/**
 * Runs a built application until it ends. What V8 compiles of it is kept beside it: the next start is quicker.
 * @param {string} main
 * @param {string[]} args
 * @param {string[]} flags of Node
 * @returns {Promise<number>} its exit code
 */
export function runService(main, args, flags = []) {
  const cache = process.env['NODE_COMPILE_CACHE'] ?? `${main}.cache`;
  return runOnNode(main, flags, args, { NODE_COMPILE_CACHE: cache });
}

/**
 * Runs a script on the project's Node until it ends, and hands Ctrl-C on to it.
 * @param {string} script
 * @param {string[]} flags of Node
 * @param {string[]} args
 * @param {Record<string, string>} env what it has beside the environment of the project's tools
 * @returns {Promise<number>} its exit code
 */
export async function runOnNode(script, flags, args, env = {}) {
  // A group of its own: Ctrl-C reaches it once, through us, and not a second time from the terminal.
  const child = spawn(findNode(), ['--disable-warning=ExperimentalWarning', ...flags, script, ...args], {
    stdio: 'inherit',
    env: { ...projectEnvironment(), ...env },
    detached: true,
  });
  const handOn = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, handOn);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

import { spawn } from 'node:child_process';
import { findNode, projectEnvironment } from './workspace.mjs';

/**
 * Node flags of the VM service: a small young generation. V8 would let it grow past 100 MiB with a large fleet and would not
 * return the memory. A small one also frees the buffers of a cluster's fast console, which are not reused, with a quick
 * collection instead of marking the whole heap. deploy/ uses the same flags.
 */
export const VM_SERVICE_FLAGS = ['--max-semi-space-size=2'];

/** Node flags of the sandbox: the same, as 10,000 simulated VMs otherwise take a third more memory. */
export const SANDBOX_FLAGS = VM_SERVICE_FLAGS;

/**
 * Runs a built application until it exits. V8's compiled code is cached next to it, which makes the next start faster.
 * @param {string} main
 * @param {string[]} args
 * @param {string[]} flags Node flags
 * @returns {Promise<number>} its exit code
 */
export function runService(main, args, flags = []) {
  const cache = process.env['NODE_COMPILE_CACHE'] ?? `${main}.cache`;
  return runOnNode(main, flags, args, { NODE_COMPILE_CACHE: cache });
}

/**
 * Runs a script with the project's Node until it exits, and forwards Ctrl-C to it.
 * @param {string} script
 * @param {string[]} flags Node flags
 * @param {string[]} args
 * @param {Record<string, string>} env added to the environment of the project's tools
 * @returns {Promise<number>} its exit code
 */
export async function runOnNode(script, flags, args, env = {}) {
  // In its own process group, so that Ctrl-C reaches it once, through this process, and not again from the terminal.
  const child = spawn(findNode(), ['--disable-warning=ExperimentalWarning', ...flags, script, ...args], {
    stdio: 'inherit',
    env: { ...projectEnvironment(), ...env },
    detached: true,
  });
  const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

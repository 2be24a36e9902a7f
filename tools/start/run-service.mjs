import { spawn } from 'node:child_process';
import { findNode, projectEnvironment } from './workspace.mjs';

/**
 * How Node runs the VM service. What is young in memory may take 24 MiB instead of V8's 128 and more, which a large fleet
 * fills and V8 does not give back: 100 MiB less with 10,000 VMs. deploy/ has the same.
 */
export const VM_SERVICE_FLAGS = ['--max-semi-space-size=8'];

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

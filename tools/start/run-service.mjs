import { spawn } from 'node:child_process';
import { findNode, projectEnvironment } from './workspace.mjs';

/**
 * Runs a built application until it ends, and hands Ctrl-C on to it.
 * @param {string} main
 * @param {string[]} args
 * @returns {Promise<number>} its exit code
 */
export async function runService(main, args) {
  // A group of its own: Ctrl-C reaches it once, through us, and not a second time from the terminal.
  const child = spawn(findNode(), ['--disable-warning=ExperimentalWarning', main, ...args], {
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

import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { findNode, projectEnvironment, root } from './workspace.mjs';

/**
 * Node flags of the VM service: a small young generation. V8 would let it grow past 100 MiB with a large fleet and
 * would not return the memory. A small one also frees the buffers of a cluster's fast console, which are not reused,
 * with a quick collection instead of marking the whole heap. deploy/ uses the same flags.
 */
export const VM_SERVICE_FLAGS = ['--max-semi-space-size=2'];

/** Node flags of the sandbox: the same, as 10,000 simulated VMs otherwise take a third more memory. */
export const SANDBOX_FLAGS = VM_SERVICE_FLAGS;

const END_WITH_STARTER = pathToFileURL(join(root, 'tools/start/end-with-starter.mjs')).href;

/** How often it is checked whether npm still runs. */
const PARENT_CHECK_MS = 500;

/**
 * Runs a built application until it exits. It also ends when this process is killed, or the npm that runs it. V8's
 * compiled code is cached next to it, which makes the next start faster.
 * @param {string} main
 * @param {string[]} args
 * @param {string[]} flags Node flags
 * @returns {Promise<number>} its exit code
 */
export function runService(main, args, flags = []) {
  const cache = process.env['NODE_COMPILE_CACHE'] ?? `${main}.cache`;
  return run(main, ['--import', END_WITH_STARTER, ...flags], args, { NODE_COMPILE_CACHE: cache }, 'ipc');
}

/**
 * Runs a script with the project's Node until it exits, and forwards Ctrl-C to it.
 * @param {string} script
 * @param {string[]} flags Node flags
 * @param {string[]} args
 * @param {Record<string, string>} env added to the environment of the project's tools
 * @returns {Promise<number>} its exit code
 */
export const runOnNode = (script, flags, args, env = {}) => run(script, flags, args, env);

/**
 * @param {string} script
 * @param {string[]} flags
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @param {'ipc'[]} channels that the child has besides its standard streams
 * @returns {Promise<number>}
 */
async function run(script, flags, args, env, ...channels) {
  // In its own process group, so that Ctrl-C reaches it once, through this process, and not again from the terminal.
  const child = spawn(findNode(), ['--disable-warning=ExperimentalWarning', ...flags, script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', ...channels],
    env: { ...projectEnvironment(), ...env },
    detached: true,
  });
  const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  const watch = endWithNpm(() => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  }).finally(() => clearInterval(watch));
}

/**
 * Calls `end` when npm has started this process and is gone. Any other parent may end, such as the shell of a service
 * in the background.
 * @param {() => void} end
 */
function endWithNpm(end) {
  if (process.env['npm_lifecycle_event'] === undefined) return undefined;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    end();
  }, PARENT_CHECK_MS);
  return timer;
}

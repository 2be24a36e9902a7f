import { existsSync, readFileSync } from 'node:fs';

/**
 * A process. Its start time in clock ticks since boot distinguishes it from a later process with the same ID.
 * @typedef {{ name: string, pid: number, startTicks: number }} RunningProcess
 */

/**
 * The process of a PID file, if it is running under the given name.
 * @param {string} pidFile
 * @param {string} name
 * @returns {RunningProcess | undefined}
 */
export function processOf(pidFile, name) {
  if (!existsSync(pidFile)) return undefined;
  const found = processWithId(Number.parseInt(readFileSync(pidFile, 'utf8'), 10));
  return found?.name === name ? found : undefined;
}

/**
 * @param {number} pid
 * @returns {RunningProcess | undefined}
 */
export function processWithId(pid) {
  const stat = statOf(pid);
  return stat && { name: stat.name, pid, startTicks: stat.startTicks };
}

/**
 * Whether exactly this process is still running.
 * @param {RunningProcess} process
 */
export function isRunning({ pid, startTicks }) {
  const stat = statOf(pid);
  return stat !== undefined && stat.startTicks === startTicks && stat.state !== 'Z';
}

/**
 * Sends a signal to a process and waits until it has exited.
 * @param {RunningProcess} target
 * @param {number} timeoutMs
 * @param {NodeJS.Signals} [signal]
 * @returns {Promise<boolean>} whether it is gone
 */
export async function endProcess(target, timeoutMs, signal = 'SIGTERM') {
  const deadline = Date.now() + timeoutMs;
  if (isRunning(target)) process.kill(target.pid, signal);
  while (isRunning(target)) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/**
 * @param {number} pid
 * @returns {{ name: string, state: string, startTicks: number } | undefined}
 */
function statOf(pid) {
  try {
    // proc(5): field 2 is the name in parentheses, which may contain parentheses and spaces. Field 3 is the state, 22
    // the start.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const close = stat.lastIndexOf(')');
    const fields = stat.slice(close + 2).split(' ');
    return { name: stat.slice(stat.indexOf('(') + 1, close), state: fields[0] ?? '', startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

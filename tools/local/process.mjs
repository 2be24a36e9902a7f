import { existsSync, readFileSync } from 'node:fs';

/**
 * A process, told apart from a later one with the same id by its start, in clock ticks since the machine's boot.
 * @typedef {{ name: string, pid: number, startTicks: number }} RunningProcess
 */

/**
 * The process behind a pid file, if it runs under that name.
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
 * Whether that very process still runs.
 * @param {RunningProcess} process
 */
export function isRunning({ pid, startTicks }) {
  const stat = statOf(pid);
  return stat !== undefined && stat.startTicks === startTicks && stat.state !== 'Z';
}

/**
 * Asks a process to end and waits for it.
 * @param {RunningProcess} target
 * @param {number} timeoutMs
 * @returns {Promise<boolean>} whether it is gone
 */
export async function endProcess(target, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  if (isRunning(target)) process.kill(target.pid, 'SIGTERM');
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
    // The name stands in brackets and may itself hold brackets and spaces: proc(5), field 2. State is 3, start is 22.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const close = stat.lastIndexOf(')');
    const fields = stat.slice(close + 2).split(' ');
    return { name: stat.slice(stat.indexOf('(') + 1, close), state: fields[0] ?? '', startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

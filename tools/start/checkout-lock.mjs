// Lets one process at a time prepare a checkout: two builds that write the same files leave a service that can't start.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isRunning, processWithId } from '../local/process.mjs';

/** How often a waiting process checks the lock. */
const CHECK_INTERVAL_MS = 200;

/**
 * Runs `work` while no other process runs work under the lock of this folder. The lock is released when its process
 * ends, even if it is killed. On a machine without /proc other processes can't be checked, so there is no wait.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @param {(pid: number) => void} onWait called once, with the process that holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(folder, work, onWait) {
  const release = await acquire(folder, onWait);
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * The lock is the file with the highest number. It is free when its holder has emptied it or no longer runs. The next
 * holder creates the next file and removes the earlier ones, so no process can remove a lock that another one has just
 * acquired.
 * @param {string} folder
 * @param {(pid: number) => void} onWait
 */
async function acquire(folder, onWait) {
  mkdirSync(folder, { recursive: true });
  const claim = join(folder, `claim-${process.pid}`);
  writeFileSync(claim, JSON.stringify(processWithId(process.pid) ?? {}));
  let reported = false;
  try {
    for (;;) {
      const newest = newestOf(folder);
      const holder = holderOf(folder, newest);
      if (holder) {
        if (!reported) onWait(holder.pid);
        reported = true;
        await pause(CHECK_INTERVAL_MS);
        continue;
      }
      const mine = newest + 1;
      if (!take(claim, join(folder, String(mine)))) continue;
      // The number may have been free because its lock was acquired, released and removed since the folder was read.
      if (newestOf(folder) !== mine) {
        rmSync(join(folder, String(mine)), { force: true });
        continue;
      }
      for (const number of numbersIn(folder)) if (number < mine) rmSync(join(folder, String(number)), { force: true });
      return () => truncateSync(join(folder, String(mine)));
    }
  } finally {
    rmSync(claim);
  }
}

/** @param {string} folder */
const numbersIn = (folder) =>
  readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** @param {string} folder */
const newestOf = (folder) => Math.max(0, ...numbersIn(folder));

/**
 * The process that holds the lock, if it still runs.
 * @param {string} folder
 * @param {number} number
 */
function holderOf(folder, number) {
  try {
    const holder = JSON.parse(readFileSync(join(folder, String(number)), 'utf8'));
    return isRunning(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates a lock with the content of the claim in one step, so that no process sees a half-written lock.
 * @param {string} claim
 * @param {string} lock
 * @returns {boolean} false when another process created it first
 */
function take(claim, lock) {
  try {
    linkSync(claim, lock);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

// One process at a time prepares a checkout: two builds that write the same files leave a service that can't start.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isRunning, processWithId } from '../local/process.mjs';

/** How often a waiting process looks, in milliseconds. */
const LOOK_AGAIN = 200;

/**
 * Does work while no other process does work under the lock of this folder. What a process holds ends with it, however
 * it ends. On a machine without /proc nothing is known of other processes, and nobody is waited for.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @param {(pid: number) => void} onWait called once, with the process that is waited for
 * @returns {Promise<T>}
 */
export async function alone(folder, work, onWait) {
  const release = await acquire(folder, onWait);
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * The lock is the file with the highest number; it is free when its holder has emptied it or is gone. The next holder
 * makes the next file and removes those before it. So nobody ever removes a lock that somebody could have got meanwhile.
 * @param {string} folder
 * @param {(pid: number) => void} onWait
 */
async function acquire(folder, onWait) {
  mkdirSync(folder, { recursive: true });
  const claim = join(folder, `claim-${process.pid}`);
  writeFileSync(claim, JSON.stringify(processWithId(process.pid) ?? {}));
  let told = false;
  try {
    for (;;) {
      const newest = newestOf(folder);
      const holder = holderOf(folder, newest);
      if (holder) {
        if (!told) onWait(holder.pid);
        told = true;
        await pause(LOOK_AGAIN);
        continue;
      }
      const mine = newest + 1;
      if (!take(claim, join(folder, String(mine)))) continue;
      // A number may have been free because its lock had been held, given back and removed since the folder was read.
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
 * The process that holds that lock, if it does still.
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
 * Makes a lock with what is in the claim, both at once: a lock is never seen half written.
 * @param {string} claim
 * @param {string} lock
 * @returns {boolean} false when somebody else made it first
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

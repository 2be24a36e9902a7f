import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './process.mjs';

/** @typedef {import('./process.mjs').RunningProcess} RunningProcess */

/** @param {string} dataDir */
const recordFile = (dataDir) => join(dataDir, 'daemons.json');

/**
 * Records the daemons that this process started, so that a later run can stop them if this one is killed.
 * @param {string} dataDir
 * @param {RunningProcess[]} daemons an empty list removes the record
 * @param {number} [owner]
 */
export function recordDaemons(dataDir, daemons, owner = process.pid) {
  if (daemons.length === 0) {
    rmSync(recordFile(dataDir), { force: true });
    return;
  }
  mkdirSync(dataDir, { recursive: true });
  const temporary = `${recordFile(dataDir)}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify({ owner, daemons }));
  renameSync(temporary, recordFile(dataDir));
}

/**
 * The running daemons that an ended run started. Daemons of an active run are not orphans.
 * @param {string} dataDir
 * @returns {RunningProcess[]}
 */
export function findOrphans(dataDir) {
  try {
    const { owner, daemons } = JSON.parse(readFileSync(recordFile(dataDir), 'utf8'));
    if (owner !== process.pid && isAlive(owner)) return [];
    return daemons.filter(isRunning);
  } catch {
    return [];
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

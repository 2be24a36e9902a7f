import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './process.mjs';

/** @typedef {import('./process.mjs').RunningProcess} RunningProcess */

/** @param {string} dataDir */
const noteFile = (dataDir) => join(dataDir, 'daemons.json');

/**
 * Notes which daemons this process started, so that a later run can end them if this one is killed.
 * @param {string} dataDir
 * @param {RunningProcess[]} daemons none removes the note
 * @param {number} [owner]
 */
export function note(dataDir, daemons, owner = process.pid) {
  if (daemons.length === 0) {
    rmSync(noteFile(dataDir), { force: true });
    return;
  }
  mkdirSync(dataDir, { recursive: true });
  const temporary = `${noteFile(dataDir)}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify({ owner, daemons }));
  renameSync(temporary, noteFile(dataDir));
}

/**
 * Daemons that an earlier run started and left behind. One whose run still lives stays that run's.
 * @param {string} dataDir
 * @returns {RunningProcess[]}
 */
export function noteOf(dataDir) {
  try {
    const { owner, daemons } = JSON.parse(readFileSync(noteFile(dataDir), 'utf8'));
    if (owner !== process.pid && ownerLives(owner)) return [];
    return daemons.filter(isRunning);
  } catch {
    return [];
  }
}

/** @param {number} pid */
function ownerLives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

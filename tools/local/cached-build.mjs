import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/**
 * @template Result
 * @typedef {object} CachedBuild
 * @property {string} cacheDir
 * @property {string} kind the first part of the names in the cache, such as `tiny-guest`
 * @property {string} key the hash of the inputs, of `hashOfInputs`
 * @property {boolean} fresh ignores the cache
 * @property {number} [spaceBytes] the disk space that a build takes, which is released when it ends
 * @property {(line: string) => void} log
 * @property {(result: Result) => boolean} isComplete whether the cache has all files of an earlier result
 * @property {(work: string) => Promise<Result>} build in a folder of its own, which is removed afterwards
 */

/**
 * Builds something from packages of the distribution, unless the cache has it. A build that fails or is interrupted
 * never leaves a part of its result in the cache, if it moves complete files there only.
 * @template Result
 * @param {CachedBuild<Result>} build
 * @returns {Promise<Result>}
 */
export async function cachedBuild({ cacheDir, kind, key, fresh, spaceBytes, log, isComplete, build }) {
  const record = join(cacheDir, `${kind}-${key}.json`);
  const cached = fresh ? undefined : readRecord(record, isComplete);
  if (cached) return cached;
  const name = kind.replace('-', ' ');
  mkdirSync(cacheDir, { recursive: true });
  if (spaceBytes !== undefined && freeBytes(cacheDir) < spaceBytes) throw noSpace(cacheDir, name, spaceBytes);
  log(`Building the ${name} …`);
  const work = mkdtempSync(join(cacheDir, `${kind}-work-`));
  try {
    const result = await build(work);
    writeFileSync(join(work, 'record'), JSON.stringify(result));
    renameSync(join(work, 'record'), record);
    return result;
  } catch (error) {
    const isFull = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC';
    throw isFull && spaceBytes !== undefined ? noSpace(cacheDir, name, spaceBytes, error) : error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * A hash of the sources of a build, and of the distribution release, which provides the packages.
 * @param {readonly string[]} folders
 * @param {(file: string) => boolean} isInput whether a file counts, by its path in its folder
 * @param {readonly string[]} others
 */
export function hashOfInputs(folders, isInput, others = []) {
  const hash = createHash('sha256');
  for (const other of others) hash.update(other);
  for (const folder of folders) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort().filter(isInput)) {
      const path = join(folder, file);
      if (statSync(path).isFile()) hash.update(file).update(readFileSync(path));
    }
  }
  if (existsSync('/etc/os-release')) hash.update(readFileSync('/etc/os-release'));
  return hash.digest('hex').slice(0, 12);
}

/**
 * Runs a build as a program: prints its result as JSON, and its progress and errors to standard error.
 * @template Result
 * @param {(options: { log: (line: string) => void, fresh: boolean }) => Promise<Result>} build
 */
export async function runBuild(build) {
  try {
    const fresh = process.argv.includes('--fresh');
    console.log(JSON.stringify(await build({ log: (line) => console.error(line), fresh })));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

/**
 * @template Result
 * @param {string} record
 * @param {(result: Result) => boolean} isComplete
 * @returns {Result | undefined}
 */
function readRecord(record, isComplete) {
  try {
    const result = JSON.parse(readFileSync(record, 'utf8'));
    return isComplete(result) ? result : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} folder */
function freeBytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** @param {string} folder @param {string} name @param {number} bytes @param {unknown} [cause] */
const noSpace = (folder, name, bytes, cause) =>
  new Error(
    `${folder} does not have the ${bytes / 1024 / 1024} MiB of free space that building the ${name} takes: free some, or set HEADGATE_CACHE_DIR to another folder.`,
    { cause },
  );

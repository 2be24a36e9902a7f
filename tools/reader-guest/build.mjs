// node tools/reader-guest/build.mjs [--fresh]    builds the reader guest unless it is cached; prints {"folder":…} as JSON
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir as defaultCacheDir } from '../local/cache-dir.mjs';
import { packCpio } from '../tiny-guest/cpio.mjs';
import { packageSource } from '../tiny-guest/package-source.mjs';
import { collectReaderParts, readerEntries } from './parts.mjs';

/**
 * `folder` has two files, `kernel` and `initrd`. `version` identifies their content.
 * @typedef {{ folder: string, version: string, packages: string[] }} ReaderGuest
 */

/** Disk space for a build, mostly for unpacked packages; it is released when the build ends. */
const BUILD_SPACE_BYTES = 400 * 1024 * 1024;

/** The folders with the programs of a build. */
const SOURCES = [import.meta.dirname, join(import.meta.dirname, '../tiny-guest')];

/**
 * Builds the guest that reads file systems from the distribution's kernel, busybox, Perl, NTFS-3G and LVM, unless it is
 * cached. A build that fails or is interrupted never leaves a part of a guest in the cache.
 * @param {{ cacheDir?: string, log?: (line: string) => void, fresh?: boolean }} [options] `fresh` ignores the cache and
 *   uses the distribution's newest kernel
 * @returns {Promise<ReaderGuest>}
 */
export async function buildReaderGuest({ cacheDir = defaultCacheDir(), log = () => {}, fresh = false } = {}) {
  const record = join(cacheDir, `reader-guest-${recipeKey()}.json`);
  const cached = fresh ? undefined : readRecord(record);
  if (cached) return cached;
  if (process.arch !== 'x64')
    throw new Error(`The reader guest is available for x86-64 only; this machine is ${process.arch}.`);
  mkdirSync(cacheDir, { recursive: true });
  const { bavail, bsize } = statfsSync(cacheDir);
  if (bavail * bsize < BUILD_SPACE_BYTES)
    throw new Error(
      `${cacheDir} does not have the ${BUILD_SPACE_BYTES / 1024 / 1024} MiB of free space that building the reader guest takes.`,
    );
  log('Building the reader guest …');
  const work = mkdtempSync(join(cacheDir, 'reader-guest-work-'));
  try {
    const source = await packageSource({ folder: join(cacheDir, 'packages'), log });
    const parts = await collectReaderParts(source, work);
    const initrd = packCpio(readerEntries(parts), 0);
    const version = createHash('sha256').update(readFileSync(parts.kernel)).update(initrd).digest('hex').slice(0, 12);
    const guest = { folder: join(cacheDir, `reader-guest-${version}`), version, packages: parts.versions };
    if (!existsSync(guest.folder)) {
      const part = join(work, 'part');
      mkdirSync(part, { mode: 0o755 });
      copyFileSync(parts.kernel, join(part, 'kernel'));
      // Not compressed: an emulated processor takes a second for that.
      writeFileSync(join(part, 'initrd'), initrd);
      renameSync(part, guest.folder);
    }
    writeFileSync(join(work, 'record'), JSON.stringify(guest));
    renameSync(join(work, 'record'), record);
    log(`  kernel ${parts.kernelVersion}, RAM disk of ${(initrd.length / 1024 / 1024).toFixed(1)} MiB`);
    return guest;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A hash of the inputs of a build: these sources, and the distribution release that provides the packages. */
function recipeKey() {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    for (const file of files.filter((name) => name.endsWith('.mjs') || name === join('rootfs', 'init')))
      hash.update(file).update(readFileSync(join(folder, file)));
  }
  if (existsSync('/etc/os-release')) hash.update(readFileSync('/etc/os-release'));
  return hash.digest('hex').slice(0, 12);
}

/**
 * @param {string} record
 * @returns {ReaderGuest | undefined}
 */
function readRecord(record) {
  try {
    const guest = JSON.parse(readFileSync(record, 'utf8'));
    return ['kernel', 'initrd'].every((file) => statSync(join(guest.folder, file)).size > 0) ? guest : undefined;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === import.meta.filename) {
  try {
    const fresh = process.argv.includes('--fresh');
    console.log(JSON.stringify(await buildReaderGuest({ log: (line) => console.error(line), fresh })));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

// node tools/reader-guest/build.mjs [--fresh]    builds the reader guest unless it is cached; prints {"folder":…} as JSON
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir as defaultCacheDir } from '../local/cache-dir.mjs';
import { cachedBuild, hashOfInputs, runBuild } from '../local/cached-build.mjs';
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
  if (process.arch !== 'x64')
    throw new Error(`The reader guest is available for x86-64 only; this machine is ${process.arch}.`);
  return cachedBuild({
    cacheDir,
    kind: 'reader-guest',
    key: hashOfInputs(SOURCES, (file) => file.endsWith('.mjs') || file === join('rootfs', 'init')),
    fresh,
    spaceBytes: BUILD_SPACE_BYTES,
    log,
    isComplete: (/** @type {ReaderGuest} */ { folder }) =>
      ['kernel', 'initrd'].every((file) => statSync(join(folder, file)).size > 0),
    build: (work) => build(cacheDir, work, log),
  });
}

/**
 * @param {string} cacheDir
 * @param {string} work
 * @param {(line: string) => void} log
 * @returns {Promise<ReaderGuest>}
 */
async function build(cacheDir, work, log) {
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
  log(`  kernel ${parts.kernelVersion}, RAM disk of ${(initrd.length / 1024 / 1024).toFixed(1)} MiB`);
  return guest;
}

if (process.argv[1] === import.meta.filename) await runBuild(buildReaderGuest);

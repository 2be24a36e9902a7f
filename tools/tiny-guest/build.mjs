// node tools/tiny-guest/build.mjs [--fresh]    builds the tiny guest unless it is cached; prints {"path":…} as JSON
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
import { gzipSync } from 'node:zlib';
import { cacheDir as defaultCacheDir } from '../local/cache-dir.mjs';
import { packCpio } from './cpio.mjs';
import { writeDiskImage } from './disk-image.mjs';
import { packageSource } from './package-source.mjs';
import { collectParts } from './parts.mjs';
import { rootfsEntries } from './rootfs.mjs';

/**
 * `path` is a qcow2 image of `sizeBytes`; `version` identifies the components of the build.
 * @typedef {{ path: string, sizeBytes: number, virtualSizeBytes: number, version: string, packages: string[] }}
 *   TinyGuest
 */

/** Disk space for a build, mostly for unpacked packages; it is released when the build ends. */
const BUILD_SPACE_BYTES = 400 * 1024 * 1024;
const VIRTUAL_BYTES = 62 * 1024 * 1024;

/**
 * Builds a small bootable disk image from the distribution's kernel, busybox and guest agent, unless it is cached. A
 * failed or interrupted build never leaves a partial image in the cache.
 * @param {{ cacheDir?: string, log?: (line: string) => void, fresh?: boolean }} [options] `fresh` ignores the cache and
 *   uses the distribution's newest kernel
 * @returns {Promise<TinyGuest>}
 */
export async function buildTinyGuest({ cacheDir = defaultCacheDir(), log = () => {}, fresh = false } = {}) {
  const key = recipeKey();
  const record = join(cacheDir, `tiny-guest-${key}.json`);
  const cached = fresh ? undefined : readRecord(record);
  if (cached) return cached;
  if (process.arch !== 'x64')
    throw new Error(`The tiny guest is available for x86-64 only; this machine is ${process.arch}.`);

  mkdirSync(cacheDir, { recursive: true });
  checkSpace(cacheDir);
  log('Building the tiny guest …');
  const work = mkdtempSync(join(cacheDir, 'tiny-guest-work-'));
  try {
    const source = await packageSource({ folder: join(cacheDir, 'packages'), log });
    const parts = await collectParts(source, work);
    const version = `1.${createHash('sha256')
      .update([key, parts.kernelVersion, ...parts.versions].join('\n'))
      .digest('hex')
      .slice(0, 10)}`;
    log(`  kernel ${parts.kernelVersion}`);
    const initrd = gzipSync(packCpio(rootfsEntries(parts, version), 0), { level: 9 });
    const image = join(work, 'tiny-guest.qcow2');
    await writeDiskImage({ parts, initrd, work, target: image });

    const path = join(cacheDir, `tiny-guest-${version}.qcow2`);
    renameSync(image, path);
    const guest = {
      path,
      sizeBytes: statSync(path).size,
      virtualSizeBytes: VIRTUAL_BYTES,
      version,
      packages: parts.versions,
    };
    writeFileSync(join(work, 'record'), JSON.stringify(guest));
    renameSync(join(work, 'record'), record);
    log(`  ${path}, ${(guest.sizeBytes / 1024 / 1024).toFixed(1)} MiB`);
    return guest;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC')
      throw new Error(noSpaceMessage(cacheDir), { cause: error });
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A hash of the inputs of a build: these sources, and the distribution release that provides the packages. */
function recipeKey() {
  const hash = createHash('sha256');
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).sort();
  for (const file of files.filter(
    (name) => (name.endsWith('.mjs') && !name.startsWith('driving')) || name.startsWith('rootfs'),
  )) {
    const path = join(import.meta.dirname, file);
    if (statSync(path).isFile()) hash.update(file).update(readFileSync(path));
  }
  if (existsSync('/etc/os-release')) hash.update(readFileSync('/etc/os-release'));
  return hash.digest('hex').slice(0, 12);
}

/**
 * @param {string} record
 * @returns {TinyGuest | undefined}
 */
function readRecord(record) {
  try {
    const guest = JSON.parse(readFileSync(record, 'utf8'));
    return statSync(guest.path).size === guest.sizeBytes ? guest : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} folder */
function checkSpace(folder) {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < BUILD_SPACE_BYTES) throw new Error(noSpaceMessage(folder));
}

/** @param {string} folder */
const noSpaceMessage = (folder) =>
  `${folder} does not have the ${BUILD_SPACE_BYTES / 1024 / 1024} MiB of free space that building the tiny guest takes: free some, or set HEADGATE_CACHE_DIR to another folder.`;

if (process.argv[1] === import.meta.filename) {
  try {
    const guest = await buildTinyGuest({ log: (line) => console.error(line), fresh: process.argv.includes('--fresh') });
    console.log(JSON.stringify(guest));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

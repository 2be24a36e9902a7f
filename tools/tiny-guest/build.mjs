// node tools/tiny-guest/build.mjs [--fresh]    builds the tiny guest, or finds it built; prints {"path":…} as JSON
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
 * `path` is a qcow2 of `sizeBytes`; `version` tells two builds from different parts apart.
 * @typedef {{ path: string, sizeBytes: number, virtualSizeBytes: number, version: string, packages: string[] }} TinyGuest
 */

/** Unpacked packages take most of it; it is free again when the build ends. */
const ROOM_BYTES = 400 * 1024 * 1024;
const VIRTUAL_BYTES = 62 * 1024 * 1024;

/**
 * A small disk image that boots: built from the distribution's kernel, busybox and guest agent when it is not in the
 * cache yet. A build that fails, or is cut off, leaves nothing behind that a later one takes for an image.
 * @param {{ cacheDir?: string, log?: (line: string) => void, fresh?: boolean }} [options] `fresh` builds anew, so that it
 *   takes the distribution's newest kernel
 * @returns {Promise<TinyGuest>}
 */
export async function buildTinyGuest({ cacheDir = defaultCacheDir(), log = () => {}, fresh = false } = {}) {
  const key = recipeKey();
  const record = join(cacheDir, `tiny-guest-${key}.json`);
  const built = fresh ? undefined : recall(record);
  if (built) return built;
  if (process.arch !== 'x64')
    throw new Error(`The tiny guest exists for x86-64 only; this machine is ${process.arch}.`);

  mkdirSync(cacheDir, { recursive: true });
  expectRoom(cacheDir);
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
      throw new Error(noRoom(cacheDir), { cause: error });
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The hash of what makes the image: these sources, and the release whose packages they take. */
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
function recall(record) {
  try {
    const guest = JSON.parse(readFileSync(record, 'utf8'));
    return statSync(guest.path).size === guest.sizeBytes ? guest : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} folder */
function expectRoom(folder) {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < ROOM_BYTES) throw new Error(noRoom(folder));
}

/** @param {string} folder */
const noRoom = (folder) =>
  `${folder} has no room for the tiny guest, whose build needs ${ROOM_BYTES / 1024 / 1024} MiB: free some, or name another folder in HEADGATE_CACHE_DIR.`;

if (process.argv[1] === import.meta.filename) {
  try {
    const guest = await buildTinyGuest({ log: (line) => console.error(line), fresh: process.argv.includes('--fresh') });
    console.log(JSON.stringify(guest));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

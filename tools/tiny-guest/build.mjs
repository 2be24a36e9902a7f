// node tools/tiny-guest/build.mjs [--fresh]    builds the tiny guest unless it is cached; prints {"path":…} as JSON
import { createHash } from 'node:crypto';
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { cacheDir as defaultCacheDir } from '../local/cache-dir.mjs';
import { cachedBuild, hashOfInputs, runBuild } from '../local/cached-build.mjs';
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
  if (process.arch !== 'x64')
    throw new Error(`The tiny guest is available for x86-64 only; this machine is ${process.arch}.`);
  const key = hashOfInputs([import.meta.dirname], isInput);
  return cachedBuild({
    cacheDir,
    kind: 'tiny-guest',
    key,
    fresh,
    spaceBytes: BUILD_SPACE_BYTES,
    log,
    isComplete: (/** @type {TinyGuest} */ { path, sizeBytes }) => statSync(path).size === sizeBytes,
    build: (work) => build({ cacheDir, key, work, log }),
  });
}

/** @param {string} file */
const isInput = (file) => (file.endsWith('.mjs') && !file.startsWith('driving')) || file.startsWith('rootfs');

/**
 * @param {{ cacheDir: string, key: string, work: string, log: (line: string) => void }} options
 * @returns {Promise<TinyGuest>}
 */
async function build({ cacheDir, key, work, log }) {
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
  const sizeBytes = statSync(path).size;
  log(`  ${path}, ${(sizeBytes / 1024 / 1024).toFixed(1)} MiB`);
  return { path, sizeBytes, virtualSizeBytes: VIRTUAL_BYTES, version, packages: parts.versions };
}

if (process.argv[1] === import.meta.filename) await runBuild(buildTinyGuest);

// node tools/tiny-container/build.mjs [--fresh]    builds the image of the tiny container unless it is cached; prints {"path":…} as JSON
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { cacheDir as defaultCacheDir } from '../local/cache-dir.mjs';
import { cachedBuild, hashOfInputs, runBuild } from '../local/cached-build.mjs';
import { findBusybox } from '../tiny-guest/busybox.mjs';
import { packageSource } from '../tiny-guest/package-source.mjs';
import { imageEntries } from './rootfs.mjs';
import { packTar } from './tar.mjs';

/**
 * `path` is an image for Incus and LXD of `sizeBytes`; `version` identifies its contents.
 * @typedef {{ path: string, sizeBytes: number, version: string }} TinyContainer
 */

/** Node's names of the architectures, and the kernel's. */
const ARCHITECTURES = /** @type {Record<string, string>} */ ({ x64: 'x86_64', arm64: 'aarch64' });

/**
 * Builds a small image of a system container from a static busybox, unless it is cached. A failed or interrupted build
 * never leaves a partial image in the cache.
 * @param {{ cacheDir?: string, log?: (line: string) => void, fresh?: boolean, architecture?: string }} [options]
 *   `fresh` ignores the cache, `architecture` is Node's name of this machine's
 * @returns {Promise<TinyContainer>}
 */
export async function buildTinyContainer({
  cacheDir = defaultCacheDir(),
  log = () => {},
  fresh = false,
  architecture = process.arch,
} = {}) {
  const kernelName = ARCHITECTURES[architecture];
  if (!kernelName)
    throw new Error(`The tiny container is available for x86-64 and 64-bit ARM only; this machine is ${architecture}.`);
  return cachedBuild({
    cacheDir,
    kind: 'tiny-container',
    key: hashOfInputs([import.meta.dirname], (file) => file.endsWith('.mjs') || file.startsWith('rootfs'), [
      kernelName,
    ]),
    fresh,
    log,
    isComplete: (/** @type {TinyContainer} */ { path, sizeBytes }) => statSync(path).size === sizeBytes,
    build: (work) => build({ cacheDir, kernelName, work, log }),
  });
}

/**
 * @param {{ cacheDir: string, kernelName: string, work: string, log: (line: string) => void }} options
 * @returns {Promise<TinyContainer>}
 */
async function build({ cacheDir, kernelName, work, log }) {
  const busybox = await findBusybox(() => unpackBusybox(cacheDir, work, log));
  const programs = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean).sort();
  const parts = { architecture: kernelName, busybox: readFileSync(busybox), programs };
  const contents = packTar(imageEntries({ ...parts, version: '' }), 0);
  const version = `1.${createHash('sha256').update(contents).digest('hex').slice(0, 10)}`;
  const archive = gzipSync(packTar(imageEntries({ ...parts, version }), 0), { level: 9 });

  const path = join(cacheDir, `tiny-container-${version}.tar.gz`);
  const image = join(work, 'image');
  writeFileSync(image, archive);
  renameSync(image, path);
  log(`  ${path}, ${(archive.length / 1024 / 1024).toFixed(1)} MiB`);
  return { path, sizeBytes: archive.length, version };
}

/**
 * @param {string} cacheDir
 * @param {string} work
 * @param {(line: string) => void} log
 */
async function unpackBusybox(cacheDir, work, log) {
  const source = await packageSource({ folder: join(cacheDir, 'packages'), log });
  const target = join(work, 'busybox');
  await source.unpack(source.packages.busybox, target);
  return target;
}

if (process.argv[1] === import.meta.filename) await runBuild(buildTinyContainer);

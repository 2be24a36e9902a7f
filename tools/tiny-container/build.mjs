// node tools/tiny-container/build.mjs [--fresh]    builds the image of the tiny container unless it is cached; prints {"path":…} as JSON
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { cacheDir as defaultCacheDir } from '../local/cache-dir.mjs';
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
  const record = join(cacheDir, `tiny-container-${recipeKey(kernelName)}.json`);
  const cached = fresh ? undefined : readRecord(record);
  if (cached) return cached;

  mkdirSync(cacheDir, { recursive: true });
  log('Building the tiny container …');
  const work = mkdtempSync(join(cacheDir, 'tiny-container-work-'));
  try {
    const busybox = await findBusybox(() => unpackBusybox(cacheDir, work, log));
    const programs = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean).sort();
    const parts = { architecture: kernelName, busybox: readFileSync(busybox), programs };
    const version = `1.${hashOf([packTar(imageEntries({ ...parts, version: '' }), 0)]).slice(0, 10)}`;
    const archive = gzipSync(packTar(imageEntries({ ...parts, version }), 0), { level: 9 });

    const path = join(cacheDir, `tiny-container-${version}.tar.gz`);
    const container = { path, sizeBytes: archive.length, version };
    moveInto(work, path, archive);
    moveInto(work, record, JSON.stringify(container));
    log(`  ${path}, ${(archive.length / 1024 / 1024).toFixed(1)} MiB`);
    return container;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
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

/**
 * @param {string} work
 * @param {string} path
 * @param {Buffer | string} data
 */
function moveInto(work, path, data) {
  const temporary = join(work, 'file');
  writeFileSync(temporary, data);
  renameSync(temporary, path);
}

/**
 * A hash of the inputs of a build: these sources, the architecture, and the distribution release, which provides busybox.
 * @param {string} architecture
 */
function recipeKey(architecture) {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mjs') || name.startsWith('rootfs'))
    .sort()
    .filter((name) => statSync(join(import.meta.dirname, name)).isFile());
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release') : '';
  const contents = files.flatMap((name) => [name, readFileSync(join(import.meta.dirname, name))]);
  return hashOf([architecture, release, ...contents]).slice(0, 12);
}

/** @param {(string | Buffer)[]} parts */
function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/**
 * @param {string} record
 * @returns {TinyContainer | undefined}
 */
function readRecord(record) {
  try {
    const container = JSON.parse(readFileSync(record, 'utf8'));
    return statSync(container.path).size === container.sizeBytes ? container : undefined;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === import.meta.filename) {
  try {
    const fresh = process.argv.includes('--fresh');
    console.log(JSON.stringify(await buildTinyContainer({ log: (line) => console.error(line), fresh })));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

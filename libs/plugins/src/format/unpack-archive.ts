import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DomainError, formatBytes } from '@headgate/domain-contracts';
import { extract, type Header } from 'tar-stream';
import { MANIFEST_FILE } from './manifest.js';

/** The largest archive. */
export const MAX_ARCHIVE_BYTES = 16 * 1024 ** 2;
/** The most that an archive may contain, headers included. */
export const MAX_UNPACKED_BYTES = 64 * 1024 ** 2;
export const MAX_FILES = 500;
const MAX_MANIFEST_BYTES = 64 * 1024;
const MAX_PATH_LENGTH = 200;
const MAX_DEPTH = 8;
/** A part of a path. A leading dot is not allowed, which excludes `.` and `..` as well. */
const PATH_PART = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

export interface UnpackedArchive {
  /** The manifest, which is not written to the folder: that is the last step of an installation. */
  readonly manifest: string;
  /** SHA-256 of each written file in hex digits. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Unpacks an archive, tar or tar with gzip, into an empty folder. It contains files and folders only, with plain names;
 * links and devices are refused, so no file is written through one of them.
 * @throws DomainError INVALID_PLUGIN
 */
export async function unpackArchive(archive: Buffer, folder: string): Promise<UnpackedArchive> {
  const files = new Map<string, string>();
  const taken = new Map<string, 'file' | 'folder'>();
  let manifest: string | undefined;
  const tar = extract();
  const source = limitedStream(archive);
  source.on('error', (error) => tar.destroy(error));
  source.pipe(tar);
  try {
    for await (const entry of tar) {
      const path = checkedPath(entry.header);
      claim(taken, path, entry.header.type === 'directory' ? 'folder' : 'file');
      if (taken.size > MAX_FILES) throw invalid(`contains more than ${MAX_FILES} files and folders`);
      if (entry.header.type === 'directory') {
        entry.resume();
        continue;
      }
      if (path === MANIFEST_FILE) manifest = await readText(entry as AsyncIterable<Buffer>);
      else files.set(path, await writeFile(join(folder, path), entry as AsyncIterable<Buffer>));
    }
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code.startsWith('E') && !code.startsWith('ERR_')) throw error;
    throw invalid(`is damaged (${message})`, error);
  } finally {
    source.destroy();
  }
  if (manifest === undefined) throw invalid(`has no ${MANIFEST_FILE}`);
  return { manifest, files };
}

const invalid = (problem: string, cause?: unknown): DomainError =>
  new DomainError('INVALID_PLUGIN', `The archive of the plugin ${problem}.`, { cause });

/** The tar stream in the archive, which fails when it is larger than allowed. */
function limitedStream(archive: Buffer): Readable {
  const plain = Readable.from([archive], { objectMode: false });
  const isCompressed = archive.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC);
  const unpacked = isCompressed ? plain.pipe(createGunzip()) : plain;
  return Readable.from(limit(unpacked), { objectMode: false });
}

async function* limit(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let passed = 0;
  for await (const chunk of stream) {
    passed += chunk.length;
    if (passed > MAX_UNPACKED_BYTES) throw invalid(`unpacks to more than ${formatBytes(MAX_UNPACKED_BYTES)}`);
    yield chunk;
  }
}

function checkedPath({ name, type }: Header): string {
  const shown = JSON.stringify(name.slice(0, MAX_PATH_LENGTH));
  if (type !== 'file' && type !== 'directory')
    throw invalid(`contains ${shown} of type ${type ?? 'unknown'}; only files and folders are allowed`);
  const path = type === 'directory' ? name.replace(/\/$/, '') : name;
  const parts = path.split('/');
  if (path.length > MAX_PATH_LENGTH || parts.length > MAX_DEPTH || !parts.every((part) => PATH_PART.test(part)))
    throw invalid(
      `contains the path ${shown}; paths have at most ${MAX_DEPTH} parts of letters, digits, ".", "_" and "-"`,
    );
  return path;
}

/** Names that differ in case only would be one file on some file systems. */
function claim(taken: Map<string, 'file' | 'folder'>, path: string, kind: 'file' | 'folder'): void {
  const parts = path.toLowerCase().split('/');
  for (let depth = 1; depth < parts.length; depth++) {
    const parent = parts.slice(0, depth).join('/');
    if (taken.get(parent) === 'file') throw invalid(`uses the file ${parent} as a folder`);
    taken.set(parent, 'folder');
  }
  const key = parts.join('/');
  const existing = taken.get(key);
  if (existing !== undefined && !(existing === 'folder' && kind === 'folder'))
    throw invalid(`contains ${path} more than once`);
  taken.set(key, kind);
}

async function readText(entry: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of entry) {
    length += chunk.length;
    if (length > MAX_MANIFEST_BYTES)
      throw invalid(`has a ${MANIFEST_FILE} of more than ${formatBytes(MAX_MANIFEST_BYTES)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @returns the SHA-256 digest */
async function writeFile(file: string, content: AsyncIterable<Buffer>): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  const handle = await open(file, 'wx', 0o600);
  try {
    for await (const chunk of content) {
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return hash.digest('hex');
}

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, statfs, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DomainError, formatBytes, formatImageRef, type Clock, type ImageRef } from '@headgate/domain-contracts';

/** A file that is being uploaded. All parts of one upload have the same values. */
export interface UploadRequest {
  readonly ref: ImageRef;
  /** The virtual size of the image. */
  readonly imageBytes: number;
  /** The length of the whole file. */
  readonly fileBytes: number;
  /** Any text that changes with the content of the client's file. */
  readonly version?: string;
  /** Of the whole file, such as `sha256:<64 hex digits>`. */
  readonly checksum?: string;
}

/** The state of an upload. */
export interface Upload {
  readonly request: UploadRequest;
  readonly file: string;
  /** How many bytes of the file have been stored. */
  readonly receivedBytes: number;
}

export interface UploadsDeps {
  /** A private folder of this service. Whatever is in it at the start is from an earlier run. */
  readonly folder: string;
  readonly clock: Clock;
  /** The free space of the folder's file system in bytes. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

interface Entry extends Upload {
  readonly folder: string;
  receivedBytes: number;
  /** Whether a part is being received, or the file is being imported. */
  isBusy: boolean;
  cancelExpiry: () => void;
}

export const MAX_UPLOADS = 8;
/** An upload without a new part for this long is removed. */
export const UPLOAD_EXPIRY_MS = 24 * 60 * 60_000;
/** Free space that uploads leave for everything else. */
const WATERMARK_BYTES = 1024 ** 3;
/** Headers and metadata of an image file, besides the content of its disk. */
const IMAGE_OVERHEAD_BYTES = 64 * 1024 ** 2;

/**
 * Files that clients are uploading. The parts of a file arrive one after another; after an interruption the client
 * continues where the stored part ends. Space is reserved for the whole file when its upload begins.
 */
export class Uploads {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly deps: UploadsDeps) {}

  /** Removes the files that an earlier run has left. */
  async sweep(): Promise<void> {
    const own = new Set([...this.entries.values()].map(({ folder }) => folder));
    const names = await readdir(this.deps.folder).catch(() => []);
    const leftovers = names.map((name) => join(this.deps.folder, name)).filter((path) => !own.has(path));
    await Promise.all(leftovers.map((path) => rm(path, { recursive: true, force: true })));
  }

  all(): readonly Upload[] {
    return [...this.entries.values()];
  }

  get(ref: ImageRef): Upload | undefined {
    return this.entries.get(formatImageRef(ref));
  }

  /**
   * Begins an upload, or finds the one that the request continues.
   * @throws DomainError CONFLICT if it is another file or another offset, with the right offset in the details; BUSY,
   *   INVALID_INPUT, INSUFFICIENT_STORAGE
   */
  async open(request: UploadRequest, offset: number): Promise<Upload> {
    const existing = this.entries.get(formatImageRef(request.ref));
    if (!existing) {
      if (offset > 0) throw wrongOffset(request, 0);
      return this.begin(request);
    }
    if (existing.isBusy)
      throw new DomainError('BUSY', `${request.ref.name} is being uploaded by another request: wait for it.`);
    if (!isSameFile(existing.request, request)) {
      throw new DomainError(
        'CONFLICT',
        `Another file is being uploaded as ${request.ref.name}: delete that image first, or choose another name.`,
      );
    }
    if (offset !== existing.receivedBytes) throw wrongOffset(request, existing.receivedBytes);
    return existing;
  }

  /**
   * Appends a part of the file. Stored bytes stay when the client leaves.
   * @returns whether the file is complete; it is then kept for the import until `remove`
   * @throws DomainError INVALID_INPUT when the part is longer than the rest of the file, CONFLICT when the client
   *   leaves or the upload is removed
   */
  async receive({ request: { ref } }: Upload, body: Readable): Promise<boolean> {
    const entry = this.entries.get(formatImageRef(ref));
    if (!entry || entry.isBusy) {
      discard(body);
      throw new DomainError('BUSY', `${ref.name} is being uploaded by another request: wait for it.`);
    }
    entry.isBusy = true;
    entry.cancelExpiry();
    const { file, receivedBytes: start, request } = entry;
    try {
      await store(body, { file, start, maxBytes: request.fileBytes - start });
    } catch (error) {
      if (DomainError.is(error, 'INVALID_INPUT')) await truncate(file, start);
      throw error;
    } finally {
      entry.receivedBytes = await stat(file).then(
        ({ size }) => size,
        () => 0,
      );
      entry.isBusy = false;
      this.expireLater(entry);
    }
    if (!this.entries.has(formatImageRef(ref))) throw uploadCanceled(ref);
    if (entry.receivedBytes < request.fileBytes) return false;
    entry.isBusy = true;
    entry.cancelExpiry();
    return true;
  }

  /** Removes an upload with its file. A part that is being received fails. */
  async remove(ref: ImageRef): Promise<void> {
    const entry = this.entries.get(formatImageRef(ref));
    if (!entry) return;
    this.entries.delete(formatImageRef(ref));
    entry.cancelExpiry();
    await rm(entry.folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    for (const { request } of this.all()) await this.remove(request.ref);
  }

  private async begin(request: UploadRequest): Promise<Entry> {
    const { ref, fileBytes, imageBytes } = request;
    if (fileBytes > Math.ceil(imageBytes * 1.01) + IMAGE_OVERHEAD_BYTES) {
      throw new DomainError(
        'INVALID_INPUT',
        `The file of ${formatBytes(fileBytes)} is larger than the image: size must be at least ${formatBytes(fileBytes)}.`,
      );
    }
    if (this.entries.size >= MAX_UPLOADS)
      throw new DomainError('BUSY', `${MAX_UPLOADS} files are being uploaded already: wait until one is complete.`);
    const folder = join(this.deps.folder, randomUUID());
    const entry: Entry = {
      request,
      folder,
      file: join(folder, 'file'),
      receivedBytes: 0,
      isBusy: false,
      cancelExpiry: () => undefined,
    };
    // Reserves the name and the space before anything is awaited.
    this.entries.set(formatImageRef(ref), entry);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { freeBytes = freeBytesOf } = this.deps;
      if ((await freeBytes(this.deps.folder)) - this.missingBytes() < WATERMARK_BYTES) {
        throw new DomainError(
          'INSUFFICIENT_STORAGE',
          `This machine does not have ${formatBytes(fileBytes)} of free space for the upload.`,
        );
      }
    } catch (error) {
      await this.remove(ref);
      throw error;
    }
    this.expireLater(entry);
    return entry;
  }

  /** The bytes of all uploads that have not arrived yet. */
  private missingBytes(): number {
    return this.all().reduce((sum, { request, receivedBytes }) => sum + request.fileBytes - receivedBytes, 0);
  }

  private expireLater(entry: Entry): void {
    entry.cancelExpiry();
    entry.cancelExpiry = this.deps.clock.after(UPLOAD_EXPIRY_MS, () => void this.remove(entry.request.ref));
  }
}

const isSameFile = (one: UploadRequest, other: UploadRequest): boolean =>
  one.fileBytes === other.fileBytes &&
  one.imageBytes === other.imageBytes &&
  one.version === other.version &&
  one.checksum === other.checksum;

const wrongOffset = ({ ref }: UploadRequest, offset: number): DomainError =>
  new DomainError('CONFLICT', `The upload of ${ref.name} continues at offset ${offset}.`, { details: { offset } });

export const uploadCanceled = ({ name }: ImageRef): DomainError =>
  new DomainError('CONFLICT', `The upload of ${name} was canceled.`);

const freeBytesOf = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

interface Destination {
  readonly file: string;
  readonly start: number;
  readonly maxBytes: number;
}

/**
 * Writes a body into a file. A refused body is read to its end without storing it: closing it would close the
 * connection.
 */
async function store(body: Readable, { file, start, maxBytes }: Destination): Promise<void> {
  let passed = 0;
  let interruption: Error | undefined;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      done(null, passed > maxBytes ? undefined : chunk);
    },
  });
  // What has arrived from a client that leaves is still written.
  const onError = (error: Error): void => {
    interruption = error;
    limit.end();
  };
  body.once('error', onError);
  try {
    body.pipe(limit);
    await pipeline(limit, createWriteStream(file, { flags: start === 0 ? 'w' : 'r+', start, mode: 0o600 }));
  } catch (error) {
    discard(body);
    throw storageError(error);
  }
  if (interruption) throw storageError(interruption);
  if (passed > maxBytes)
    throw new DomainError('INVALID_INPUT', 'The body is longer than the rest of the file: bytes is its whole length.');
}

/** Reads a body to its end without storing it. */
export function discard(body: Readable): void {
  body.unpipe();
  body.on('error', () => undefined).resume();
}

function storageError(error: unknown): DomainError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new DomainError('INSUFFICIENT_STORAGE', 'The disk of this machine is full.', { cause: error });
  return new DomainError('CONFLICT', `The upload was interrupted: ${message}.`, { cause: error });
}

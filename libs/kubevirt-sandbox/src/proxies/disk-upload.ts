import { addAbortSignal, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FileContent, type DiskContent } from './disk-content.js';
import { SparseFile } from './sparse-file.js';

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** The image is larger than its volume. */
export class ImageTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`Virtual image size is larger than the reported available storage ${maxBytes}. A larger PVC is required.`);
  }
}

export interface UploadLimits {
  /** The size of the volume. */
  readonly maxBytes: number;
  /** Aborted when the volume is deleted; this also destroys the stream. */
  readonly signal: AbortSignal;
  /** Default: a new one. */
  readonly file?: SparseFile;
}

/**
 * Stores an upload; gzip is unpacked, other formats are stored unchanged. Nothing stays of an upload that fails, and
 * its stream is left open for the answer.
 * @throws ImageTooLarge @throws Error of the connection, of the format or of the file system
 */
export async function storeUpload(
  upload: Readable,
  { maxBytes, signal, file = new SparseFile() }: UploadLimits,
): Promise<DiskContent> {
  addAbortSignal(signal, upload);
  try {
    const content = (await beginsWithGzip(upload)) ? unpacked(upload) : upload;
    for await (const chunk of content.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (file.size + chunk.length > maxBytes) throw new ImageTooLarge(maxBytes);
      await file.append(chunk);
    }
    await file.finish();
    signal.throwIfAborted();
    return new FileContent(file);
  } catch (error) {
    upload.unpipe();
    file.close();
    throw error;
  }
}

/** Leaves the stream at its start. */
async function beginsWithGzip(upload: Readable): Promise<boolean> {
  for (;;) {
    const start = upload.read(GZIP_MAGIC.length) as Buffer | null;
    if (start) {
      upload.unshift(start);
      return start.equals(GZIP_MAGIC);
    }
    if (upload.readableEnded || upload.destroyed) return false;
    await new Promise<void>((resolve) => {
      for (const event of ['readable', 'end', 'close', 'error']) upload.once(event, () => resolve());
    });
  }
}

function unpacked(upload: Readable): Readable {
  const gunzip = createGunzip();
  upload.once('error', (error) => gunzip.destroy(error));
  return upload.pipe(gunzip);
}

import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { DomainError, ServiceShutdown } from '@headgate/domain-contracts';
import { decompress, isCompressed } from './decompress.js';
import { downloadFile } from './download-file.js';
import { HttpFailure, httpGet, isHttp, type HttpBody, type HttpClient, type HttpRequest } from './http-get.js';
import { chain, limitBytes, limitRatio, type SpaceGuard } from './limits.js';
import type { DigestAlgorithm, PartialDownloads, PartialFile } from './partial-downloads.js';
import { hashBytes, type BytesListener } from './progress.js';
import { isDigest, wrongDigest } from './verify-digest.js';

export interface SaveOptions {
  readonly onBytes: BytesListener;
  /** The limit for the download, and for the file after decompression. */
  readonly maxBytes: number;
  /** The space of the folder with the file. */
  readonly space: SpaceGuard;
  /** Downloads that were interrupted, on the same file system as the file. */
  readonly partials: PartialDownloads;
}

interface ImageUrl {
  /** Without user, password and checksum. */
  readonly url: URL;
  /** Credentials of the URL as a header, so that no error message quotes them. */
  readonly authorization?: string;
  readonly digest?: string;
}

/**
 * Parses an image URL. A fragment `#sha256:<hex>` is the checksum of the download.
 * @throws DomainError INVALID_SOURCE
 */
export function parseImageUrl(text: string): ImageUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !isHttp(url)) {
    throw new DomainError('INVALID_SOURCE', 'The image must be an http:// or https:// URL.');
  }
  const digest = url.hash.slice(1).replace('=', ':');
  if (digest !== '' && !isDigest(digest)) {
    throw new DomainError(
      'INVALID_SOURCE',
      'The part of the URL after # must be a checksum such as sha256:<64 hex digits>.',
    );
  }
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const authorization =
    user === '' ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  [url.hash, url.username, url.password] = ['', '', ''];
  return { url, ...authorization, ...(digest !== '' && { digest }) };
}

/** An image whose identity is known before its content is transferred. Without `save`, it must be discarded. */
export interface OpenImage {
  /** Changes whenever the content does; absent when the server gives no version of the file. */
  readonly identity?: string;
  /** The file itself, if it is on this machine and need not be saved. */
  readonly path?: string;
  /**
   * Writes the decompressed content into a file.
   * @returns its SHA-256 digest in hex digits
   * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it is
   *   canceled
   */
  save(file: string, options: SaveOptions): Promise<string>;
  discard(): void;
}

/**
 * Opens the image at a URL.
 * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, CONFLICT when it is canceled
 */
export async function openImage(http: HttpClient, source: string, signal: AbortSignal): Promise<OpenImage> {
  const { url, authorization, digest } = parseImageUrl(source);
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const first = await open(http, url, { signal, headers });
  const discard = (): void => void first.body.on('error', () => undefined).destroy();
  if (/^text\/html\b/.test(first.headers.get('content-type') ?? '')) {
    discard();
    throw new DomainError(
      'INVALID_SOURCE',
      `${url.host} returned a web page instead of an image: use the URL of the file itself.`,
    );
  }
  const version = digest ?? versionOf(first.headers);
  return {
    ...(version !== undefined && { identity: JSON.stringify([url.href, version]) }),
    discard,
    save: (file, options) =>
      translateWriteErrors(
        () => new ImageDownload({ http, url, headers, digest, signal }, options).save(first, file),
        signal,
      ).finally(discard),
  };
}

interface ImageRequest {
  readonly http: HttpClient;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly digest?: string;
  readonly signal: AbortSignal;
}

class ImageDownload {
  constructor(
    private readonly request: ImageRequest,
    private readonly options: SaveOptions,
  ) {}

  /** @returns the SHA-256 digest of the decompressed file */
  async save(first: HttpBody, file: string): Promise<string> {
    const { url, headers } = this.request;
    const { partials } = this.options;
    const partial = await partials.open(JSON.stringify([url.href, headers]), ['sha256', ...this.expected]);
    try {
      const release = await this.reserve((first.bytes ?? 0) - partial.bytes);
      try {
        const { maxBytes, onBytes, space } = this.options;
        await downloadFile(this.request, first, partial, { maxBytes, onBytes, checkSpace: space.checker() });
      } finally {
        release();
      }
      this.verify(partial);
      const digest = await this.unpack(partial, file);
      await partial.discard();
      return digest;
    } catch (error) {
      const end = this.isInterruption(error) ? partial.keep() : partial.discard();
      await end.catch(() => undefined);
      throw error;
    }
  }

  /** Interrupted downloads of other files give way. */
  private async reserve(bytes: number): Promise<() => void> {
    const { space, partials } = this.options;
    const wanted = Math.max(0, bytes);
    try {
      return await space.reserve(wanted);
    } catch (error) {
      if (!DomainError.is(error, 'INSUFFICIENT_STORAGE')) throw error;
      await partials.sweep(0);
      return space.reserve(wanted);
    }
  }

  /** The algorithm of the expected checksum, if there is one. */
  private get expected(): DigestAlgorithm[] {
    const { digest } = this.request;
    if (digest === undefined) return [];
    return digest.startsWith('sha512:') ? ['sha512'] : ['sha256'];
  }

  private verify(partial: PartialFile): void {
    const { digest } = this.request;
    if (digest === undefined) return;
    const [algorithm = 'sha256'] = this.expected;
    const actual = `${algorithm}:${partial.digest(algorithm)}`;
    if (actual !== digest) throw wrongDigest(actual, digest);
  }

  private async unpack(partial: PartialFile, file: string): Promise<string> {
    if (!(await isCompressed(partial.path))) {
      await rename(partial.path, file);
      return partial.digest('sha256');
    }
    const { maxBytes, space } = this.options;
    const { signal } = this.request;
    const ratio = limitRatio();
    const hash = hashBytes();
    const decompressed = await decompress(chain(createReadStream(partial.path), ratio.compressed));
    const content = chain(decompressed, ratio.decompressed, limitBytes(maxBytes), space.watch(), hash.stream);
    await pipeline(content, createWriteStream(file, { mode: 0o600 }), { signal });
    return hash.hex();
  }

  private isInterruption(error: unknown): boolean {
    const { signal } = this.request;
    if (signal.aborted) return signal.reason instanceof ServiceShutdown || this.options.partials.areInterrupted;
    const isOverloaded = DomainError.is(error) && error.cause instanceof HttpFailure && error.cause.status >= 500;
    return isOverloaded || DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
  }
}

/** A strong ETag, or else the time of the last change together with the size. */
function versionOf(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  if (etag?.startsWith('"')) return etag;
  const [modified, length] = [headers.get('last-modified'), headers.get('content-length')];
  return modified !== null && length !== null ? `${modified} ${length}` : undefined;
}

async function open(http: HttpClient, url: URL, request: HttpRequest) {
  try {
    return await httpGet(http, url, request);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const code = error.status >= 500 ? 'BACKEND_FAILED' : 'INVALID_SOURCE';
    throw new DomainError(code, `The image can't be downloaded: ${error.message}.`, { cause: error });
  }
}

/** Translates errors between the network and the disk into domain errors. */
export async function translateWriteErrors<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    if (signal.aborted) throw new DomainError('CONFLICT', 'The operation was canceled.', { cause: error });
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new DomainError(
        'INSUFFICIENT_STORAGE',
        'The disk of this machine is full: free some space, then try again.',
        { cause: error },
      );
    }
    if (code.startsWith('Z_') || code.startsWith('ZSTD_')) {
      throw new DomainError('INVALID_SOURCE', `The image is damaged: it could not be decompressed (${message}).`, {
        cause: error,
      });
    }
    throw new DomainError('BACKEND_FAILED', `The image could not be stored: ${message}.`, { cause: error });
  }
}

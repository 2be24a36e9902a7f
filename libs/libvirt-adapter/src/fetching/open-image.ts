import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@headgate/domain-contracts';
import { decompress } from './decompress.js';
import { HttpFailure, httpGet, isHttp, type HttpClient, type HttpRequest } from './http-get.js';
import { chain, limitBytes, limitRatio, type SpaceGuard } from './limits.js';
import { countBytes, hashBytes, type BytesListener } from './progress.js';
import { isDigest, verifyDigest } from './verify-digest.js';

export interface SaveOptions {
  readonly onBytes: BytesListener;
  /** The limit for the download, and for the file after decompression. */
  readonly maxBytes: number;
  /** The space of the folder with the file. */
  readonly space: SpaceGuard;
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
   * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it is canceled
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
  const request = { signal, ...(authorization !== undefined && { headers: { authorization } }) };
  const { body, bytes, headers } = await open(http, url, request);
  const discard = (): void => void body.on('error', () => undefined).destroy();
  if (/^text\/html\b/.test(headers.get('content-type') ?? '')) {
    discard();
    throw new DomainError(
      'INVALID_SOURCE',
      `${url.host} returned a web page instead of an image: use the URL of the file itself.`,
    );
  }
  const version = digest ?? versionOf(headers);
  return {
    ...(version !== undefined && { identity: JSON.stringify([url.href, version]) }),
    discard,
    save: (file, { onBytes, maxBytes, space }) => {
      const hash = hashBytes();
      return translateWriteErrors(async () => {
        const release = await space.reserve(bytes ?? 0).catch((error: unknown) => {
          discard();
          throw error;
        });
        try {
          const ratio = limitRatio();
          const verified = digest === undefined ? [] : [verifyDigest(digest)];
          const compressed = chain(
            body,
            limitBytes(maxBytes),
            countBytes(bytes, onBytes),
            ...verified,
            ratio.compressed,
          );
          const decompressed = await decompress(compressed);
          const content = chain(decompressed, ratio.decompressed, limitBytes(maxBytes), space.watch(), hash.stream);
          await pipeline(content, createWriteStream(file, { mode: 0o600 }), { signal });
        } finally {
          release();
        }
        return hash.hex();
      }, signal);
    },
  };
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

import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@headgate/domain-contracts';
import { decompress } from './decompress.js';
import { HttpFailure, httpGet, type HttpGet } from './http-get.js';
import { countBytes, type BytesListener } from './progress.js';
import { isDigest, verifyDigest } from './verify-digest.js';

export interface DownloadOptions {
  readonly signal: AbortSignal;
  readonly onBytes: BytesListener;
}

interface ImageUrl {
  /** Without user, password and checksum. */
  readonly url: URL;
  /** Credentials of the URL as a header: fetch rejects URLs with a password and quotes them in its error. */
  readonly authorization?: string;
  readonly digest?: string;
}

/**
 * Parses an image URL. A fragment `#sha256:<hex>` is the checksum of the download.
 * @throws DomainError INVALID_SOURCE
 */
export function parseImageUrl(text: string): ImageUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
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

/**
 * Downloads an image into a file and decompresses gzip, xz and zstd.
 * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it is canceled
 */
export async function downloadImage(
  http: HttpGet,
  source: string,
  file: string,
  { signal, onBytes }: DownloadOptions,
): Promise<void> {
  const { url, authorization, digest } = parseImageUrl(source);
  const request = { signal, headers: authorization === undefined ? {} : { authorization } };
  const { body, bytes, headers } = await open(http, url, request);
  if (/^text\/html\b/.test(headers.get('content-type') ?? '')) {
    body.destroy();
    throw new DomainError(
      'INVALID_SOURCE',
      `${url.host} returned a web page instead of an image: use the URL of the file itself.`,
    );
  }
  await translateWriteErrors(async () => {
    const counted = body.pipe(countBytes(bytes, onBytes));
    body.on('error', (error) => counted.destroy(error));
    const verified = digest === undefined ? counted : counted.pipe(verifyDigest(digest));
    counted.on('error', (error) => verified.destroy(error));
    await pipeline(await decompress(verified), createWriteStream(file, { mode: 0o600 }), { signal });
  }, signal);
}

async function open(http: HttpGet, url: URL, request: RequestInit & { signal: AbortSignal }) {
  try {
    return await httpGet(http, url, request);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const code = error.response.status >= 500 ? 'BACKEND_FAILED' : 'INVALID_SOURCE';
    throw new DomainError(code, `The image can't be downloaded: ${error.message}.`, { cause: error });
  }
}

/** Translates errors between the network and the disk into domain errors. */
export async function translateWriteErrors(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await write();
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

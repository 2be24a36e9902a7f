import { basename } from 'node:path/posix';
import { DomainError, displayUrl, type CloudImage } from '@headgate/domain-contracts';
import { HttpFailure, httpGet, type HttpClient } from './http-get.js';

/** The longest list that is read. Those of the distributions have less than 100 KB. */
export const MAX_LIST_BYTES = 1024 ** 2;
const LIST_TIMEOUT_MS = 60_000;

/** `<hex>  file` or `<hex> *file`, as `sha256sum` writes it. */
const GNU_LINE = /^([0-9a-f]{32,128}) [ *](\S.*)$/i;
/** `SHA256 (file) = <hex>`, as the tools of the BSDs write it. */
const BSD_LINE = /^(MD5|SHA1|SHA256|SHA512) ?\((.+)\) ?= ?([0-9a-f]{32,128})$/i;
/** A digest alone, in a list of one file. */
const BARE_LINE = /^[0-9a-f]{64}(?:[0-9a-f]{64})?$/i;
const WEB_PAGE = /^\s*<(?:!doctype\s+html|html)\b/i;

/** The algorithms by the length of their digests in hex digits. The strongest comes first. */
const STRONG = new Map([
  [128, 'sha512'],
  [64, 'sha256'],
]);

interface ListedDigest {
  /** Undefined for a digest alone. */
  readonly file?: string;
  readonly hex: string;
}

/**
 * Downloads the list of checksums of an image.
 * @returns the digest of the image, such as `sha256:<64 hex digits>`
 * @throws DomainError INVALID_SOURCE when the list does not have exactly one, BACKEND_UNREACHABLE, BACKEND_FAILED,
 *   BACKEND_TIMEOUT
 */
export async function fetchChecksum(
  http: HttpClient,
  { url, checksums }: CloudImage,
  signal: AbortSignal,
): Promise<string> {
  const list = await download(http, new URL(checksums), signal);
  return findChecksum(list, { image: new URL(url), list: new URL(checksums) });
}

/**
 * Finds the digest of an image in a list of checksums in the formats of GNU and of the BSDs, which may be inside a
 * clear-signed message.
 * @throws DomainError INVALID_SOURCE
 */
export function findChecksum(text: string, urls: { readonly image: URL; readonly list: URL }): string {
  const place = displayUrl(urls.list.href);
  if (WEB_PAGE.test(text)) throw invalid(`${place} is a web page instead of a list of checksums`);
  const file = fileNameOf(urls.image);
  const listed = text.split('\n').flatMap(parseLine);
  // A list such as `image.qcow2.sha256` is that of the image, whatever name the publisher used when writing it.
  const isOfOneFile = listed.length === 1 && urls.list.pathname.startsWith(`${urls.image.pathname}.`);
  const own = isOfOneFile ? listed : listed.filter((digest) => digest.file === file);
  if (own.length === 0) throw invalid(`${place} does not list ${file}`);
  for (const [length, algorithm] of STRONG) {
    const digests = new Set(own.filter(({ hex }) => hex.length === length).map(({ hex }) => hex));
    if (digests.size > 1) throw invalid(`${place} lists ${file} with different checksums`);
    for (const hex of digests) return `${algorithm}:${hex}`;
  }
  throw invalid(`${place} has no SHA-256 or SHA-512 checksum of ${file}`);
}

function fileNameOf({ pathname }: URL): string {
  const name = basename(pathname);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function parseLine(line: string): ListedDigest[] {
  // A clear-signed message escapes lines that begin with a hyphen.
  const text = line.replace(/^- /, '').trim();
  const [, gnuHex, gnuFile] = GNU_LINE.exec(text) ?? [];
  if (gnuHex !== undefined && gnuFile !== undefined) return [{ file: basename(gnuFile), hex: gnuHex.toLowerCase() }];
  const [, , bsdFile, bsdHex] = BSD_LINE.exec(text) ?? [];
  if (bsdFile !== undefined && bsdHex !== undefined) return [{ file: basename(bsdFile), hex: bsdHex.toLowerCase() }];
  return BARE_LINE.test(text) ? [{ hex: text.toLowerCase() }] : [];
}

async function download(http: HttpClient, url: URL, signal: AbortSignal): Promise<string> {
  try {
    const { body } = await httpGet(http, url, { signal, keepsTls: true, timeoutMs: LIST_TIMEOUT_MS });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_LIST_BYTES) throw invalid(`${displayUrl(url.href)} is too long for a list of checksums`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const code = error.status >= 500 ? 'BACKEND_FAILED' : 'INVALID_SOURCE';
    throw new DomainError(code, `The list of checksums can't be downloaded: ${error.message}.`, { cause: error });
  }
}

const invalid = (problem: string): DomainError =>
  new DomainError('INVALID_SOURCE', `The image can't be verified: ${problem}.`);

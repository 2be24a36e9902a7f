import { DomainError, formatBytes } from '@headgate/domain-contracts';
import { HttpFailure, httpGet, TOTAL_TIMEOUT_MS, type HttpBody, type HttpClient } from './http-get.js';
import { tooLarge } from './limits.js';
import type { PartialFile } from './partial-downloads.js';
import type { BytesListener } from './progress.js';

export interface FileDownload {
  readonly http: HttpClient;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface DownloadOptions {
  readonly maxBytes: number;
  readonly onBytes: BytesListener;
  /** Called before bytes are stored. @throws DomainError INSUFFICIENT_STORAGE */
  readonly checkSpace: (bytes: number) => Promise<void>;
}

/** How many times in a row a download may be interrupted before it has received `PROGRESS_BYTES` more. */
export const MAX_INTERRUPTIONS = 5;
const PROGRESS_BYTES = 1024 ** 2;
/**
 * The pause before the second attempt to continue; each further one is twice as long. The first attempt follows at
 * once.
 */
const FIRST_PAUSE_MS = 1_000;
/** How many times a download may begin again because the server sends something other than the rest of the file. */
const MAX_RESTARTS = 3;
/** HTTP dates have a resolution of a second: a file that has just changed may change again with the same date. */
const SETTLED_MS = 60_000;
const MAX_VALIDATOR_LENGTH = 1024;

/**
 * Downloads a file, and continues after an interruption where the stored bytes end, if the server gave the file a
 * version and still has it: https://www.rfc-editor.org/rfc/rfc9110#name-range-requests. Whatever else the server sends,
 * the download begins again.
 * @param first the response to a request for the whole file
 * @throws DomainError BACKEND_UNREACHABLE, BACKEND_FAILED, BACKEND_TIMEOUT, INVALID_SOURCE, INSUFFICIENT_STORAGE,
 *   CONFLICT when it is canceled
 */
export async function downloadFile(
  download: FileDownload,
  first: HttpBody,
  partial: PartialFile,
  options: DownloadOptions,
): Promise<void> {
  const transfer = new Transfer(download, partial, options);
  try {
    await transfer.run(first);
  } finally {
    drop(first);
  }
}

class Transfer {
  private readonly endsAt: number;
  private restarts = 0;
  private reportedBytes = 0;

  constructor(
    private readonly download: FileDownload,
    private readonly partial: PartialFile,
    private readonly options: DownloadOptions,
  ) {
    this.endsAt = download.http.clock.now() + TOTAL_TIMEOUT_MS;
  }

  async run(first: HttpBody): Promise<void> {
    let body: HttpBody | undefined = await this.begin(first);
    let interruptions = 0;
    for (;;) {
      const before = this.partial.bytes;
      try {
        body ??= await this.continue();
        if (body) await this.receive(body);
        return this.report(true);
      } catch (error) {
        if (body) drop(body);
        body = undefined;
        if (this.partial.bytes - before >= PROGRESS_BYTES) interruptions = 0;
        if (!this.canContinue(error) || ++interruptions > MAX_INTERRUPTIONS) throw translate(error);
      }
      await this.pause(interruptions);
    }
  }

  /** @returns undefined when the stored bytes are to be continued */
  private async begin(first: HttpBody): Promise<HttpBody | undefined> {
    const { partial } = this;
    const validator = validatorOf(first.headers);
    if (
      partial.bytes > 0 &&
      validator !== undefined &&
      validator === partial.validator &&
      first.bytes === partial.totalBytes
    ) {
      drop(first);
      await partial.readStored();
      return undefined;
    }
    await this.accept(first);
    return first;
  }

  /** Begins from zero with the body of a response. */
  private async accept({ status, headers, bytes }: HttpBody): Promise<void> {
    if (status === 206) throw this.lie('sends a part of the file that was not requested');
    await this.partial.restart(validatorOf(headers), bytes);
    this.reportedBytes = 0;
    if (bytes !== undefined && bytes > this.options.maxBytes) throw tooLarge(this.options.maxBytes);
  }

  /** Requests the rest of the file. @returns undefined when nothing is missing */
  private async continue(): Promise<HttpBody | undefined> {
    const { partial } = this;
    const { bytes: offset, validator, totalBytes } = partial;
    if (offset === 0 || validator === undefined) return this.request();
    if (offset === totalBytes) return undefined;
    let response: HttpBody;
    try {
      response = await this.get({ range: `bytes=${offset}-`, 'if-range': validator });
    } catch (error) {
      if (!(error instanceof HttpFailure) || error.status !== 416) throw error;
      const total = /^bytes \*\/(\d+)$/.exec(error.headers.get('content-range') ?? '')?.[1];
      const isComplete = Number(total) === offset && (totalBytes === undefined || totalBytes === offset);
      return isComplete ? undefined : this.restart();
    }
    if (response.status !== 206) {
      // The file has changed, or the server knows no ranges.
      this.countRestart();
      await this.accept(response);
      return response;
    }
    const part = partOf(response.headers);
    const isRest =
      part?.start === offset &&
      (part.total === undefined || totalBytes === undefined || part.total === totalBytes) &&
      part.end < (part.total ?? totalBytes ?? Infinity) &&
      isOfVersion(response.headers, validator);
    if (!isRest) {
      drop(response);
      return this.restart();
    }
    partial.totalBytes ??= part.total;
    return response;
  }

  private restart(): Promise<HttpBody> {
    this.countRestart();
    return this.request();
  }

  /** Requests the whole file. */
  private async request(): Promise<HttpBody> {
    const response = await this.get({});
    try {
      await this.accept(response);
      return response;
    } catch (error) {
      drop(response);
      throw error;
    }
  }

  private countRestart(): void {
    if (++this.restarts > MAX_RESTARTS) throw this.lie('sends parts of the file that do not fit together');
  }

  private get(headers: Readonly<Record<string, string>>): Promise<HttpBody> {
    const { http, url, signal } = this.download;
    const timeoutMs = Math.max(0, this.endsAt - http.clock.now());
    return httpGet(http, url, { signal, timeoutMs, headers: { ...this.download.headers, ...headers } });
  }

  private async receive({ body }: HttpBody): Promise<void> {
    const { partial, options, download } = this;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      download.signal.throwIfAborted();
      const bytes = partial.bytes + chunk.length;
      if (bytes > options.maxBytes) throw tooLarge(options.maxBytes);
      if (bytes > (partial.totalBytes ?? Infinity)) throw this.lie('sends more than it has announced');
      await options.checkSpace(chunk.length);
      await partial.append(chunk);
      this.report();
    }
    const { totalBytes = partial.bytes } = partial;
    if (partial.bytes < totalBytes)
      throw new DomainError(
        'BACKEND_UNREACHABLE',
        `The download from ${download.url.host} was interrupted: ${formatBytes(totalBytes - partial.bytes)} are missing.`,
      );
  }

  private canContinue(error: unknown): boolean {
    const { partial, download } = this;
    if (download.signal.aborted || download.http.clock.now() >= this.endsAt || partial.validator === undefined)
      return false;
    if (error instanceof HttpFailure) return error.status >= 500 || [408, 425, 429].includes(error.status);
    return DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
  }

  /** Ends early when the download is canceled. */
  private async pause(interruptions: number): Promise<void> {
    const { http, signal } = this.download;
    if (interruptions > 1) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          cancel();
          signal.removeEventListener('abort', end);
          resolve();
        };
        const cancel = http.clock.after(FIRST_PAUSE_MS * 2 ** (interruptions - 2), end);
        signal.addEventListener('abort', end);
      });
    }
    signal.throwIfAborted();
  }

  /** Reports at most once per percent or mebibyte. */
  private report(isComplete = false): void {
    const { bytes, totalBytes } = this.partial;
    const step = totalBytes === undefined ? 1024 ** 2 : Math.max(Math.floor(totalBytes / 100), 64 * 1024);
    if (!isComplete && bytes - this.reportedBytes < step) return;
    this.reportedBytes = bytes;
    this.options.onBytes(bytes, totalBytes);
  }

  private lie(what: string): DomainError {
    return new DomainError('BACKEND_FAILED', `${this.download.url.host} ${what}.`);
  }
}

/**
 * A version of the file with which it can be continued: a strong ETag, or a time of the last change that is well before
 * the response. An encoded response can't be continued, because another one may be encoded differently.
 */
export function validatorOf(headers: Headers): string | undefined {
  const [etag, modified] = [headers.get('etag'), headers.get('last-modified')];
  if (headers.get('content-encoding') !== null || headers.get('accept-ranges') === 'none') return undefined;
  if ((etag ?? modified ?? '').length > MAX_VALIDATOR_LENGTH) return undefined;
  if (etag !== null) return /^"[\x21\x23-\x7e]*"$/.test(etag) ? etag : undefined;
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(modified ?? '');
  return age >= SETTLED_MS ? (modified ?? undefined) : undefined;
}

/** Whether a part belongs to a version of the file. A server need not repeat the version. */
function isOfVersion(headers: Headers, validator: string): boolean {
  if (headers.get('content-encoding') !== null) return false;
  const version = headers.get(validator.startsWith('"') ? 'etag' : 'last-modified');
  return version === null || version === validator;
}

function partOf(headers: Headers): { start: number; end: number; total?: number } | undefined {
  const [, start, end, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (start === undefined || end === undefined || total === undefined || Number(end) < Number(start)) return undefined;
  return { start: Number(start), end: Number(end), ...(total !== '*' && { total: Number(total) }) };
}

const drop = ({ body }: HttpBody): void => void body.on('error', () => undefined).destroy();

const translate = (error: unknown): unknown =>
  error instanceof HttpFailure
    ? new DomainError(
        error.status >= 500 ? 'BACKEND_FAILED' : 'INVALID_SOURCE',
        `The image can't be downloaded: ${error.message}.`,
        { cause: error },
      )
    : error;

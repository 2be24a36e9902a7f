import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';

export interface HttpGet {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

export interface HttpBody {
  readonly body: Readable;
  /** Absent when the server does not report it. */
  readonly bytes?: number;
  readonly headers: Headers;
}

/** A transfer without any data for this long has stalled. */
const STALL_TIMEOUT_MS = 60_000;

/** An HTTP response other than a success. */
export class HttpFailure extends Error {
  constructor(
    readonly response: Response,
    url: URL,
  ) {
    super(`${url.host} returned ${response.status} ${response.statusText}`.trimEnd());
  }
}

/**
 * Opens the body of a URL and follows redirects.
 * @throws HttpFailure when the status is not a success
 * @throws DomainError BACKEND_UNREACHABLE when the server does not respond, CONFLICT when the signal is aborted
 */
export async function httpGet(
  { fetch, clock }: HttpGet,
  url: URL,
  init: RequestInit & { signal: AbortSignal },
): Promise<HttpBody> {
  const end = new AbortController();
  let hasStalled = false;
  const startStallTimer = (): (() => void) =>
    clock.after(STALL_TIMEOUT_MS, () => {
      hasStalled = true;
      end.abort();
    });
  let cancelStallTimer = startStallTimer();
  const onChunk = (): void => {
    cancelStallTimer();
    cancelStallTimer = startStallTimer();
  };
  const translate = (error: unknown): DomainError => {
    if (init.signal.aborted) return new DomainError('CONFLICT', 'The operation was canceled.', { cause: error });
    if (hasStalled) return new DomainError('BACKEND_TIMEOUT', `${url.host} stopped sending.`, { cause: error });
    return new DomainError('BACKEND_UNREACHABLE', `The download from ${url.host} was interrupted: ${causeOf(error)}.`, {
      cause: error,
    });
  };
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([init.signal, end.signal]) });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new HttpFailure(response, url);
    }
    const length = response.headers.get('content-length');
    // With a content encoding, the decoded body has a different length than the header.
    const isUnencoded = response.headers.get('content-encoding') === null;
    const body = Readable.from(readChunks(response.body as ReadableStream<Uint8Array>, onChunk, translate), {
      objectMode: false,
    });
    // Runs even if the body was never read.
    body.once('close', () => {
      cancelStallTimer();
      end.abort();
    });
    return { body, headers: response.headers, ...(length !== null && isUnencoded && { bytes: Number(length) }) };
  } catch (error) {
    cancelStallTimer();
    throw error instanceof HttpFailure ? error : translate(error);
  }
}

async function* readChunks(
  body: ReadableStream<Uint8Array>,
  onChunk: () => void,
  translate: (error: unknown) => DomainError,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      onChunk();
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    throw translate(error);
  }
}

/** undici reports only "fetch failed" or "terminated"; the reason is in the cause. */
function causeOf(error: unknown): string {
  const cause = (error as Error).cause;
  return cause === undefined
    ? messageOf(error)
    : messageOf(cause) || ((cause as NodeJS.ErrnoException).code ?? messageOf(error));
}

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';

export interface HttpGet {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

export interface HttpBody {
  readonly body: Readable;
  /** Absent when the server does not say it. */
  readonly bytes?: number;
  readonly headers: Headers;
}

/** A server that says nothing for so long will not say anything more. */
const SILENCE_MS = 60_000;

/** What a server answers instead of the thing that was asked for. */
export class HttpFailure extends Error {
  constructor(
    readonly response: Response,
    url: URL,
  ) {
    super(`${url.host} answers ${response.status} ${response.statusText}`.trimEnd());
  }
}

/**
 * Opens the body of a URL; redirects are followed.
 * @throws HttpFailure when the status is no success
 * @throws DomainError BACKEND_UNREACHABLE when nobody answers, CONFLICT when it was cancelled
 */
export async function httpGet(
  { fetch, clock }: HttpGet,
  url: URL,
  init: RequestInit & { signal: AbortSignal },
): Promise<HttpBody> {
  const end = new AbortController();
  let isSilent = false;
  const listen = (): (() => void) =>
    clock.after(SILENCE_MS, () => {
      isSilent = true;
      end.abort();
    });
  let patience = listen();
  const heard = (): void => {
    patience();
    patience = listen();
  };
  const translate = (error: unknown): DomainError => {
    if (init.signal.aborted) return new DomainError('CONFLICT', 'The operation was cancelled.', { cause: error });
    if (isSilent) return new DomainError('BACKEND_TIMEOUT', `${url.host} stopped sending.`, { cause: error });
    return new DomainError('BACKEND_UNREACHABLE', `The download from ${url.host} broke off: ${causeOf(error)}.`, {
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
    // A body that was packed for the way is not as long as its header says.
    const isPlain = response.headers.get('content-encoding') === null;
    const body = Readable.from(listened(response.body as ReadableStream<Uint8Array>, heard, translate), {
      objectMode: false,
    });
    // Also when nobody ever read it.
    body.once('close', () => {
      patience();
      end.abort();
    });
    return { body, headers: response.headers, ...(length !== null && isPlain && { bytes: Number(length) }) };
  } catch (error) {
    patience();
    throw error instanceof HttpFailure ? error : translate(error);
  }
}

async function* listened(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
  translate: (error: unknown) => DomainError,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      heard();
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    throw translate(error);
  }
}

/** undici says only "fetch failed" or "terminated"; why stands in the cause. */
function causeOf(error: unknown): string {
  const cause = (error as Error).cause;
  return cause === undefined
    ? messageOf(error)
    : messageOf(cause) || ((cause as NodeJS.ErrnoException).code ?? messageOf(error));
}

import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { DomainError, messageOf, plainText, type Clock } from '@headgate/domain-contracts';
import type { EgressPolicy } from './egress-policy.js';

export interface HttpClient {
  readonly egress: EgressPolicy;
  readonly clock: Clock;
}

export interface HttpRequest {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a redirect from https to http is refused. */
  readonly keepsTls?: boolean;
  /** The longest time for the response with its body. Default: six hours. */
  readonly timeoutMs?: number;
}

export interface HttpBody {
  readonly status: number;
  readonly body: Readable;
  /** Absent when the server does not report it. */
  readonly bytes?: number;
  readonly headers: Headers;
}

/** A transfer without any data for this long has stalled. */
const STALL_TIMEOUT_MS = 60_000;
/** The longest time for one download, with all of its requests. */
export const TOTAL_TIMEOUT_MS = 6 * 60 * 60_000;
const MAX_REDIRECTS = 10;

/** The longest status line of a server that is quoted. */
const MAX_STATUS_CHARS = 200;

/** An HTTP response other than a success. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(response: IncomingMessage, url: URL) {
    super(
      `${url.host} returned ${response.statusCode} ${plainText(response.statusMessage ?? '', MAX_STATUS_CHARS)}`.trimEnd(),
    );
    this.status = response.statusCode ?? 0;
    this.headers = headersOf(response);
  }
}

/**
 * Opens the body of a URL and follows redirects. Every connection is subject to the egress policy.
 * @throws HttpFailure when the status is not a success
 * @throws DomainError INVALID_SOURCE when the policy refuses the address, BACKEND_UNREACHABLE when the server does not
 *   respond, BACKEND_TIMEOUT when it stops sending or takes too long, CONFLICT when the signal is aborted
 */
export async function httpGet({ egress, clock }: HttpClient, url: URL, request: HttpRequest): Promise<HttpBody> {
  const end = new AbortController();
  let timeout: string | undefined;
  const endAfter = (ms: number, reason: string): (() => void) =>
    clock.after(ms, () => {
      timeout = reason;
      end.abort();
    });
  const startStallTimer = (): (() => void) => endAfter(STALL_TIMEOUT_MS, 'stopped sending');
  const cancelTotalTimer = endAfter(request.timeoutMs ?? TOTAL_TIMEOUT_MS, 'takes too long to send the file');
  let cancelStallTimer = startStallTimer();
  let isOver = false;
  const cancelTimers = (): void => {
    isOver = true;
    cancelStallTimer();
    cancelTotalTimer();
  };
  const onChunk = (): void => {
    if (isOver) return;
    cancelStallTimer();
    cancelStallTimer = startStallTimer();
  };
  const translate = (error: unknown): DomainError => {
    if (error instanceof DomainError) return error;
    if (request.signal.aborted) return new DomainError('CONFLICT', 'The operation was canceled.', { cause: error });
    if (timeout !== undefined) return new DomainError('BACKEND_TIMEOUT', `${url.host} ${timeout}.`, { cause: error });
    return new DomainError(
      'BACKEND_UNREACHABLE',
      `The download from ${url.host} was interrupted: ${reasonOf(error)}.`,
      {
        cause: error,
      },
    );
  };
  try {
    const signal = AbortSignal.any([request.signal, end.signal]);
    const response = await follow(egress, url, { ...request, signal });
    const length = response.headers['content-length'];
    const body = Readable.from(readChunks(response, onChunk, translate), { objectMode: false });
    const destroy = body._destroy.bind(body);
    // A generator that waits for data does not end before its connection does.
    body._destroy = (error, done) => {
      cancelTimers();
      response.destroy();
      destroy(error, done);
    };
    return {
      status: response.statusCode ?? 0,
      body,
      headers: headersOf(response),
      ...(length !== undefined && { bytes: Number(length) }),
    };
  } catch (error) {
    cancelTimers();
    throw error instanceof HttpFailure ? error : translate(error);
  }
}

async function follow(
  egress: EgressPolicy,
  start: URL,
  { headers = {}, signal, keepsTls = false }: HttpRequest,
): Promise<IncomingMessage> {
  let url = start;
  let sentHeaders = headers;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await send(egress, url, { headers: sentHeaders, signal });
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    response.destroy();
    const { location } = response.headers;
    if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) throw new HttpFailure(response, url);
    if (!URL.canParse(location, url.href))
      throw new DomainError('BACKEND_FAILED', `${url.host} redirects to an invalid URL.`);
    const next = new URL(location, url);
    if (!isHttp(next))
      throw new DomainError('INVALID_SOURCE', `${url.host} redirects to a URL that is not http or https.`);
    if (keepsTls && url.protocol === 'https:' && next.protocol !== 'https:')
      throw new DomainError(
        'INVALID_SOURCE',
        `${url.host} redirects from https to http, where anyone could change the answer.`,
      );
    // Credentials are for the server that they were meant for.
    if (next.origin !== url.origin) sentHeaders = withoutCredentials(sentHeaders);
    [next.username, next.password] = ['', ''];
    url = next;
  }
  throw new DomainError('BACKEND_FAILED', `${start.host} redirects more than ${MAX_REDIRECTS} times.`);
}

function send(
  egress: EgressPolicy,
  url: URL,
  { headers, signal }: Pick<HttpRequest, 'headers' | 'signal'>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    egress.checkLiteral(url);
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    // A connection of its own for each request: a pooled one could have been opened under another policy.
    const options = {
      agent: false,
      lookup: egress.lookupFor(url),
      signal,
      headers: { ...headers, 'accept-encoding': 'identity' },
    };
    request(url, options).once('response', resolve).once('error', reject).end();
  });
}

export const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

const withoutCredentials = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'));

const headersOf = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(
    Object.entries(headersDistinct).flatMap(([name, values]) =>
      (values ?? []).map((value): [string, string] => [name, value]),
    ),
  );

async function* readChunks(
  body: IncomingMessage,
  onChunk: () => void,
  translate: (error: unknown) => DomainError,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      onChunk();
      yield chunk;
    }
  } catch (error) {
    throw translate(error);
  }
}

/** Errors of connection attempts to several addresses have no message of their own. */
function reasonOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return messageOf(first ?? error) || ((error as NodeJS.ErrnoException).code ?? 'no connection');
}

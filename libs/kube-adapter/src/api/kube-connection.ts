import type { IncomingMessage } from 'node:http';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import { readBody, sendRequest, type HttpRequest } from './http-request.js';
import type { Endpoint, KubeCredentials } from './kube-credentials.js';
import { errorOfResponse, errorOfTimeout, errorOfTransport, type FailedRequest } from './kube-errors.js';
import { openSocket } from './open-socket.js';
import { retryDelayMs } from './retries.js';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiRequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Besides those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long to wait for the response headers, and then again for the complete body. Default 20 s. */
  readonly timeoutMs?: number;
  /**
   * The longest body that is read, of a stream only that of a refusal; a longer one is BACKEND_FAILED. Default:
   * unlimited.
   */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Whether the request is sent again after an error that may pass. Default true. */
  readonly retry?: boolean;
  /** Whether the request is sent again only after an error that proves that it had no effect. */
  readonly isSentOnce?: boolean;
  /** Whether the request stores nothing, so that it is safe to send again like a read. */
  readonly storesNothing?: boolean;
  /** Called with the error of an attempt before the request is sent again. */
  readonly onRepeat?: (error: unknown) => void;
}

/** Knows when the server gets lost. Whether requests are sent to a server that is lost is decided by the fleet. */
export interface Outage {
  /** Aborted with a DomainError at the next loss of the server. */
  readonly signal: AbortSignal;
}

/**
 * Whether this process may change the cluster at this moment. A replica that was suspended may not, because others have
 * taken over its work meanwhile.
 */
export type WriteFence = () => boolean;

const DEFAULT_TIMEOUT_MS = 20_000;
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD'];
/** virt-api's routes of actions declare no media type: they refuse a client that accepts JSON alone with 406. */
const ACCEPT = 'application/json, */*';

/** Requests, streams and WebSockets to one API server. Every failure is a DomainError. */
export class KubeConnection {
  constructor(
    /** The context's name, for error messages. */
    readonly context: string,
    private readonly credentials: KubeCredentials,
    protected readonly clock: Clock,
    /** Ends the requests that are pending when the server is lost. */
    private readonly outage?: Outage,
    private readonly mayWrite: WriteFence = () => true,
  ) {}

  async json<T>(method: string, path: string, options?: ApiRequestOptions): Promise<T> {
    const text = await this.text(method, path, options);
    try {
      return (text === '' ? {} : JSON.parse(text)) as T;
    } catch (error) {
      throw new DomainError(
        'BACKEND_FAILED',
        `The API server of ${this.context} answered ${path} with something that is not JSON.`,
        { cause: error },
      );
    }
  }

  async text(method: string, path: string, options: ApiRequestOptions = {}): Promise<string> {
    return this.repeated(method, path, options, () => this.textOnce(method, path, options));
  }

  private async repeated<T>(
    method: string,
    path: string,
    { retry, signal, isSentOnce, storesNothing = false, onRepeat }: ApiRequestOptions,
    send: () => Promise<T>,
  ): Promise<T> {
    const began = this.clock.now();
    for (let retries = 0; ; retries++) {
      try {
        return await send();
      } catch (error) {
        const attempt = {
          method: storesNothing ? 'GET' : method,
          path,
          error,
          retries,
          elapsedMs: this.clock.now() - began,
          isSentOnce,
        };
        const delayMs = retry === false ? undefined : retryDelayMs(attempt);
        if (delayMs === undefined || signal?.aborted) throw error;
        onRepeat?.(error);
        await this.clock.delay(delayMs);
      }
    }
  }

  private async textOnce(method: string, path: string, options: ApiRequestOptions): Promise<string> {
    const request: FailedRequest = { context: this.context, method, path };
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.withTranslatedErrors(request, async (endpoint) => {
      // The last moment before it is sent: an attempt after a pause asks again.
      if (!SAFE_METHODS.includes(method) && !options.storesNothing && !this.mayWrite()) throw writesFenced();
      const response = await sendRequest(endpoint, this.clock, this.httpRequest(request, options, timeoutMs));
      const body = await this.body(response, request, timeoutMs, options.maxBytes);
      if (isSuccess(response)) return body;
      throw this.errorOfRefusal(request, response, body);
    });
  }

  /** The response as a stream, once the server has answered with success. The caller destroys it. */
  async stream(path: string, options: ApiRequestOptions = {}): Promise<IncomingMessage> {
    return this.repeated('GET', path, options, () => this.streamOnce(path, options));
  }

  private async streamOnce(path: string, options: ApiRequestOptions): Promise<IncomingMessage> {
    const request: FailedRequest = { context: this.context, method: 'GET', path };
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.withTranslatedErrors(request, async (endpoint) => {
      const response = await sendRequest(endpoint, this.clock, this.httpRequest(request, options, timeoutMs));
      if (isSuccess(response)) return response;
      throw this.errorOfRefusal(request, response, await this.body(response, request, timeoutMs, options.maxBytes));
    });
  }

  /** An open WebSocket, paused: reading from it resumes it. A refused upgrade is translated like any other response. */
  async socket(path: string, protocols: readonly string[], query: string = ''): Promise<WebSocket> {
    return this.repeated('GET', path, {}, () => this.socketOnce(path, protocols, query));
  }

  private async socketOnce(path: string, protocols: readonly string[], query: string): Promise<WebSocket> {
    const request: FailedRequest = { context: this.context, method: 'GET', path };
    return this.withTranslatedErrors(request, (endpoint) =>
      openSocket(endpoint, this.clock, {
        path,
        protocols,
        query,
        timeoutMs: DEFAULT_TIMEOUT_MS,
        onTimeout: () => errorOfTimeout(request, DEFAULT_TIMEOUT_MS),
        onRefusal: async (response) => this.errorOfRefusal(request, response, await this.body(response, request)),
      }),
    );
  }

  private body(
    response: IncomingMessage,
    request: FailedRequest,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxBytes?: number,
  ): Promise<string> {
    return readBody(response, this.clock, {
      timeoutMs,
      onTimeout: () => errorOfTimeout(request, timeoutMs),
      maxBytes,
      onTooLarge: () =>
        new DomainError('BACKEND_FAILED', `The answer of ${this.context} to ${request.path} is too long.`),
    });
  }

  private errorOfRefusal(
    request: FailedRequest,
    { statusCode = 0, headers }: IncomingMessage,
    body: string,
  ): DomainError {
    // The token may have been renewed since the kubeconfig was read.
    if (statusCode === 401) this.credentials.invalidate();
    return errorOfResponse(request, statusCode, body, headers);
  }

  private async withTranslatedErrors<T>(request: FailedRequest, send: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const endpoint = await this.credentials.endpoint();
    const loss = this.outage?.signal;
    try {
      return await send(endpoint);
    } catch (error) {
      if (!(error instanceof DomainError) && loss?.aborted) throw loss.reason;
      throw errorOfTransport(request, endpoint.url.host, error);
    }
  }

  private httpRequest(request: FailedRequest, options: ApiRequestOptions, timeoutMs: number): HttpRequest {
    const signals = [options.signal, this.outage?.signal].filter((signal) => signal !== undefined);
    return httpRequestOf(request, { ...options, signal: AbortSignal.any(signals) }, timeoutMs);
  }
}

const writesFenced = (): DomainError =>
  new DomainError(
    'NOT_READY',
    'This replica does not reach the store of the cluster, so another one may have taken over its work; try again soon.',
  );

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

const httpRequestOf = (
  request: FailedRequest,
  { query, body, contentType, headers, signal }: ApiRequestOptions,
  timeoutMs: number,
): HttpRequest => ({
  method: request.method,
  path: request.path + queryText(query),
  headers: {
    Accept: ACCEPT,
    'User-Agent': 'headgate',
    ...headers,
    ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
  },
  body: body === undefined ? undefined : JSON.stringify(body),
  timeoutMs,
  onTimeout: () => errorOfTimeout(request, timeoutMs),
  signal,
});

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text && `?${text}`;
}

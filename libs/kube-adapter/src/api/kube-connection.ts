import type { IncomingMessage } from 'node:http';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import { exchange, readText, type Exchange } from './http-exchange.js';
import type { Endpoint, KubeCredentials } from './kube-credentials.js';
import { errorOfAnswer, errorOfTimeout, errorOfTransport, type FailedRequest } from './kube-errors.js';
import { openSocket } from './open-socket.js';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestSettings {
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Milliseconds until the answer begins, and again until it is complete. Default 20 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 20_000;

/** The way to one API server: answers, streams and sockets. Every failure is a DomainError. */
export class KubeConnection {
  constructor(
    /** The context's name, for error messages. */
    readonly context: string,
    private readonly credentials: KubeCredentials,
    protected readonly clock: Clock,
  ) {}

  async json<T>(method: string, path: string, settings?: RequestSettings): Promise<T> {
    const text = await this.text(method, path, settings);
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

  async text(method: string, path: string, settings: RequestSettings = {}): Promise<string> {
    const request: FailedRequest = { context: this.context, method, path };
    const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.translated(request, async (endpoint) => {
      const response = await exchange(endpoint, this.clock, exchangeOf(request, settings, timeoutMs));
      const body = await this.body(response, request, timeoutMs);
      if (isGood(response)) return body;
      throw this.refused(request, response, body);
    });
  }

  /** The answer as a stream, once it began well; the caller destroys it. */
  async stream(path: string, settings: RequestSettings = {}): Promise<IncomingMessage> {
    const request: FailedRequest = { context: this.context, method: 'GET', path };
    const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.translated(request, async (endpoint) => {
      const response = await exchange(endpoint, this.clock, exchangeOf(request, settings, timeoutMs));
      if (isGood(response)) return response;
      throw this.refused(request, response, await this.body(response, request, timeoutMs));
    });
  }

  /** An open WebSocket, paused: its stream resumes it. A refusal before the upgrade is translated like any other answer. */
  async socket(path: string, protocols: readonly string[], query: string = ''): Promise<WebSocket> {
    const request: FailedRequest = { context: this.context, method: 'GET', path };
    return this.translated(request, (endpoint) =>
      openSocket(endpoint, this.clock, {
        path,
        protocols,
        query,
        timeoutMs: DEFAULT_TIMEOUT_MS,
        onTimeout: () => errorOfTimeout(request, DEFAULT_TIMEOUT_MS),
        onRefusal: async (response) => this.refused(request, response, await this.body(response, request)),
      }),
    );
  }

  private body(response: IncomingMessage, request: FailedRequest, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<string> {
    return readText(response, this.clock, timeoutMs, () => errorOfTimeout(request, timeoutMs));
  }

  private refused(request: FailedRequest, { statusCode = 0 }: IncomingMessage, body: string): DomainError {
    // A token may have been renewed since it was read.
    if (statusCode === 401) this.credentials.forget();
    return errorOfAnswer(request, statusCode, body);
  }

  private async translated<T>(request: FailedRequest, send: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const endpoint = await this.credentials.endpoint();
    try {
      return await send(endpoint);
    } catch (error) {
      throw errorOfTransport(request, endpoint.url.host, error);
    }
  }
}

const isGood = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

const exchangeOf = (
  request: FailedRequest,
  { query, body, contentType, signal }: RequestSettings,
  timeoutMs: number,
): Exchange => ({
  method: request.method,
  path: request.path + queryText(query),
  headers: {
    Accept: 'application/json',
    'User-Agent': 'headgate',
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

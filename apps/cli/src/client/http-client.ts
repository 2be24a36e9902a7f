import { randomUUID } from 'node:crypto';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { answerError, foreignAnswer, isJson } from './answer-error.js';
import { ClientError } from './client-error.js';
import { networkFailure } from './network-failure.js';
import type { ServerAccess } from './server-address.js';
import { EXIT_CODES } from '../exit-codes.js';

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SendOptions {
  readonly query?: QueryValues;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Sent without an idempotency key, so that the service does not keep the answer. */
  readonly isUnkept?: boolean;
  /** Instead of the time limit of the client; also the longest silence of a stream. */
  readonly timeoutMs?: number;
}

/** A successful answer with its JSON. */
export interface JsonAnswer<T> {
  readonly body: T;
  readonly headers: IncomingMessage['headers'];
}

export interface ClientOptions {
  /** Of the program, for the log of the service. */
  readonly version: string;
  /** The longest time without an answer. */
  readonly timeoutMs: number;
  /** Aborts when the user ends the program. */
  readonly signal?: AbortSignal;
}

/** Methods whose requests the service carries out once, even if they are sent again with the same key. */
const CHANGES_WITH_KEY = ['POST', 'PATCH'];

/**
 * Requests to one service. It follows no redirect, so the token only goes to the address that was chosen, and it
 * believes no certificate that the system or the given authority does not.
 */
export class HttpClient {
  constructor(
    readonly access: ServerAccess,
    private readonly options: ClientOptions,
  ) {}

  /** The headers of each request, with the token. */
  get headers(): Record<string, string> {
    const { token } = this.access;
    return {
      'user-agent': `headgate/${this.options.version}`,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
  }

  /** The URL of a path, below the path of the service's address. */
  urlOf(path: string, query: QueryValues = {}): URL {
    const url = new URL(path.replace(/^\//, ''), this.access.url);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    return url;
  }

  /** @throws ClientError, also for half an answer and for one that is not JSON */
  async json<T>(method: string, path: string, options: SendOptions = {}): Promise<JsonAnswer<T>> {
    const key: Record<string, string> =
      CHANGES_WITH_KEY.includes(method) && !options.isUnkept ? { 'idempotency-key': randomUUID() } : {};
    const headers = { accept: 'application/json', ...key, ...options.headers };
    const once = async (): Promise<JsonAnswer<T>> => {
      const answer = await this.open(method, path, { ...options, headers });
      const text = await this.textOf(answer);
      const contentType = answer.headers['content-type'] ?? '';
      if (!isJson(contentType)) throw foreignAnswer(this.access.url, { status: answer.statusCode ?? 0, contentType });
      return { body: this.parse<T>(text), headers: answer.headers };
    };
    try {
      return await once();
    } catch (error) {
      // The service carries the request out once, as it has the same key.
      if (isLost(error) && 'idempotency-key' in key) return once();
      throw error;
    }
  }

  /** A successful answer whose body is still to be read. @throws ClientError */
  async open(method: string, path: string, options: SendOptions = {}): Promise<IncomingMessage> {
    const answer = await this.request(method, path, options);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const { location, 'content-type': contentType = '' } = answer.headers;
    const text = await this.textOf(answer);
    throw answerError(this.access.url, `${method} ${path}`, {
      status,
      contentType,
      text,
      ...(location === undefined ? {} : { location }),
    });
  }

  private async request(method: string, path: string, options: SendOptions): Promise<IncomingMessage> {
    const { url, ca } = this.access;
    const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    const { body, headers = {}, query, signal = this.options.signal, timeoutMs = this.options.timeoutMs } = options;
    const content = body === undefined ? undefined : JSON.stringify(body);
    const all: RequestOptions & { ca?: string; rejectUnauthorized: boolean } = {
      method,
      headers: {
        ...this.headers,
        ...(content === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        ...headers,
      },
      // Also where NODE_TLS_REJECT_UNAUTHORIZED turns the check off for other programs.
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
      ...(signal ? { signal } : {}),
    };
    return new Promise((resolve, reject) => {
      const sent: ClientRequest = request(this.urlOf(path, query), all);
      sent.setTimeout(timeoutMs, () => sent.destroy(this.tooSlow(timeoutMs)));
      sent.on('error', (error) => reject(signal?.aborted ? interruption() : networkFailure(error, url)));
      sent.once('response', resolve);
      sent.end(content);
    });
  }

  /** @throws ClientError when the connection ends before the answer does */
  private async textOf(answer: IncomingMessage): Promise<string> {
    const parts: Buffer[] = [];
    try {
      for await (const part of answer) parts.push(part as Buffer);
    } catch (error) {
      throw this.options.signal?.aborted ? interruption() : networkFailure(error, this.access.url);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  private parse<T>(text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ClientError(
        'INVALID_JSON',
        `The answer of ${this.access.url.host} is not valid JSON. Something between the service and this program may have cut it.`,
        EXIT_CODES.failed,
      );
    }
  }

  private tooSlow(timeoutMs: number): ClientError {
    return new ClientError(
      'TIMEOUT',
      `${this.access.url.host} has not answered for ${timeoutMs / 1000} seconds. Wait longer with --timeout, or check the service.`,
      EXIT_CODES.unreachable,
    );
  }
}

const interruption = (): ClientError =>
  new ClientError(
    'INTERRUPTED',
    'Interrupted. A change that was requested may still be carried out.',
    EXIT_CODES.interrupted,
  );

const isLost = (error: unknown): boolean =>
  error instanceof ClientError && error.code === 'SERVICE_UNREACHABLE' && /was closed before/.test(error.message);

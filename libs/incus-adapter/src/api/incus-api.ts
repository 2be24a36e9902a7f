import type { IncomingMessage } from 'node:http';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import type { IncusConnection, Query, RequestOptions } from './incus-connection.js';
import type { OperationObject, ServerObject } from './incus-objects.js';
import { translateFailure } from './translate-error.js';

interface Envelope {
  readonly type: 'sync' | 'async' | 'error';
  readonly operation: string;
  readonly error: string;
  readonly error_code: number;
  readonly metadata: unknown;
}

export interface Tagged<T> {
  readonly value: T;
  /** For `If-Match`: a change is refused with CONFLICT if another client changed the object in between. */
  readonly etag: string;
}

/** A request for an operation ends after this time and is sent again, so that a server that hangs is noticed. */
const WAIT_SECONDS = 60;
const WAIT_TIMEOUT_MS = (WAIT_SECONDS + 15) * 1000;
/** Answers are lists of instances at most. */
const MAX_ANSWER_BYTES = 256 * 1024 ** 2;

/** The status of an operation that has ended well. */
const SUCCESS = 200;

/**
 * The REST API that Incus and LXD share. Every method throws a DomainError with one sentence.
 * https://linuxcontainers.org/incus/docs/main/rest-api/
 */
export class IncusApi {
  private known: Promise<ServerObject> | undefined;

  constructor(
    private readonly connection: IncusConnection,
    readonly clock: Clock,
    /** Asked before each request that changes the server; one that it forbids fails with NOT_READY and is not sent. */
    private readonly mayWrite: () => boolean = () => true,
  ) {}

  get context(): string {
    return this.connection.context;
  }

  /** Whether the server is a daemon of this machine. */
  get isLocal(): boolean {
    return this.connection.target.kind === 'socket';
  }

  /** The server, as it was read last. */
  server(): Promise<ServerObject> {
    this.known ??= this.readServer();
    return this.known;
  }

  /** Reads the server again, which may be another version. Makes it trust this service if a token allows it. */
  readServer(signal?: AbortSignal): Promise<ServerObject> {
    const reading = this.trustedServer(signal).catch((error: unknown) => {
      if (this.known === reading) this.known = undefined;
      throw error;
    });
    this.known = reading;
    return reading;
  }

  /** @throws DomainError NOT_SUPPORTED that names the extension of the API which the server lacks */
  async requireExtension(name: string, purpose: string): Promise<void> {
    const { api_extensions: extensions, environment } = await this.server();
    if (extensions.includes(name)) return;
    const version = environment ? `${nameOf(environment.server)} ${environment.server_version}` : 'The server';
    throw new DomainError(
      'NOT_SUPPORTED',
      `${version} of ${this.context} can't ${purpose}: it lacks the API extension ${name}.`,
    );
  }

  async get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
    return (await this.getTagged<T>(path, query, signal)).value;
  }

  async getTagged<T>(path: string, query?: Query, signal?: AbortSignal): Promise<Tagged<T>> {
    const response = await this.connection.request('GET', path, { query, signal });
    const { metadata } = await this.envelope(response);
    return { value: metadata as T, etag: response.headers.etag ?? '' };
  }

  /**
   * Sends a change, and waits for the operation that it begins, if it begins one.
   * @returns the metadata of the answer, or of the operation
   */
  async send<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const { type, metadata, operation } = await this.change(method, path, options);
    if (type !== 'async') return metadata as T;
    return (await this.wait(idOf(operation), options.signal)).metadata as T;
  }

  /** Sends a change that begins an operation, and returns that without waiting for its end. */
  async begin(method: string, path: string, options: RequestOptions = {}): Promise<OperationObject> {
    const { type, metadata } = await this.change(method, path, options);
    if (type === 'async') return metadata as OperationObject;
    throw new DomainError('BACKEND_FAILED', `${this.context}: the server began no operation for ${method} ${path}.`);
  }

  /** @returns the operation once it has succeeded. @throws DomainError with the reason for which it failed */
  async wait(id: string, signal?: AbortSignal): Promise<OperationObject> {
    for (;;) {
      const response = await this.connection.request('GET', `/1.0/operations/${encodeURIComponent(id)}/wait`, {
        query: { timeout: WAIT_SECONDS },
        timeoutMs: WAIT_TIMEOUT_MS,
        signal,
      });
      const operation = (await this.envelope(response)).metadata as OperationObject;
      if (operation.status_code === SUCCESS) return operation;
      if (operation.status_code > SUCCESS) {
        throw translateFailure(this.context, { status: operation.status_code, text: operation.err });
      }
    }
  }

  /** The body of an answer that is no JSON. The caller reads or destroys it. */
  async stream(path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const response = await this.connection.request('GET', path, options);
    const isError = (response.statusCode ?? 0) >= 400;
    if (!isError) return response;
    await this.envelope(response);
    throw new DomainError('BACKEND_FAILED', `${this.context}: the server refused ${path}.`);
  }

  /** A websocket that is open. The caller closes it. */
  socket(path: string, query?: Query, signal?: AbortSignal): Promise<WebSocket> {
    return this.connection.socket(path, query, signal);
  }

  close(): void {
    this.connection.close();
  }

  private async change(method: string, path: string, options: RequestOptions): Promise<Envelope> {
    if (!this.mayWrite()) throw writesFenced();
    return this.envelope(await this.connection.request(method, path, options));
  }

  private async trustedServer(signal?: AbortSignal): Promise<ServerObject> {
    const found = await this.get<ServerObject>('/1.0', {}, signal);
    if (found.auth === 'trusted') return found;
    const { target } = this.connection;
    const token = target.kind === 'https' ? target.trustToken : undefined;
    if (token === undefined) {
      throw translateFailure(this.context, { status: 403, text: 'its certificate is not trusted' });
    }
    // LXD before 5.20 takes the token as the password; Incus ignores that.
    const isExplicit = found.api_extensions.includes('explicit_trust_token');
    const body = { type: 'client', trust_token: token, ...(!isExplicit && { password: token }) };
    await this.send('POST', '/1.0/certificates', { body, signal });
    return this.get<ServerObject>('/1.0', {}, signal);
  }

  /** @throws DomainError when the answer is an error */
  private async envelope(response: IncomingMessage): Promise<Envelope> {
    const status = response.statusCode ?? 0;
    const text = await this.textOf(response);
    let found: Envelope;
    try {
      found = JSON.parse(text) as Envelope;
    } catch {
      throw translateFailure(this.context, {
        status: status >= 400 ? status : 500,
        text: `the server answered ${status} without JSON`,
      });
    }
    if (found.type !== 'error') return found;
    // A wait for an operation that has failed is answered with 200 and this code.
    throw translateFailure(this.context, { status: found.error_code || status, text: found.error });
  }

  private async textOf(response: IncomingMessage): Promise<string> {
    const parts: Buffer[] = [];
    let length = 0;
    try {
      for await (const part of response as AsyncIterable<Buffer>) {
        length += part.length;
        if (length > MAX_ANSWER_BYTES) {
          throw new DomainError('BACKEND_FAILED', `${this.context}: the server sent an answer of more than 256 MiB.`);
        }
        parts.push(part);
      }
    } catch (error) {
      throw this.connection.translate(error);
    }
    return Buffer.concat(parts).toString();
  }
}

const writesFenced = (): DomainError =>
  new DomainError('NOT_READY', 'Another replica may have taken over the work of this one; try again soon.');

/** The last part of a path such as `/1.0/operations/<id>`, which may have a query. */
const idOf = (path: string): string => (path.split('?')[0] ?? '').split('/').at(-1) ?? '';

/** The name of a server for people. */
export const nameOf = (server: string): string => (server === 'lxd' ? 'LXD' : server === 'incus' ? 'Incus' : server);

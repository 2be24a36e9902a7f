import type { IncomingMessage } from 'node:http';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import { WebSocket } from 'ws';
import { exchange, readText, type Exchange } from './http-exchange.js';
import { isAnotherObject, isNotFound, isWriteConflict, KubeApiError } from './kube-api-error.js';
import type { Endpoint, KubeCredentials } from './kube-credentials.js';
import { errorOfAnswer, errorOfTimeout, errorOfTransport, type FailedRequest } from './kube-errors.js';
import type { KubeList, KubeObject } from './kube-object.js';
import { pathOf, type Place, type Resource } from './resources.js';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestSettings {
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Milliseconds until the answer begins, and again until it is complete. Default 20 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ListSettings {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
}

export interface DeleteSettings {
  /** Deletes only this very object, not one of the same name that came after it. */
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
}

const DEFAULT_TIMEOUT_MS = 20_000;
const PAGE_SIZE = 250;
/** How often a write that lost a race is sent again, and the first pause in between; it doubles. */
const CONFLICT_RETRIES = 6;
const CONFLICT_PAUSE_MS = 25;

/** HTTP to one API server: requests, pages, streams and sockets. Every failure is a DomainError. */
export class KubeApi {
  constructor(
    /** The context's name, for error messages. */
    readonly context: string,
    private readonly credentials: KubeCredentials,
    private readonly clock: Clock,
    private readonly random: () => number = Math.random,
  ) {}

  get<T extends KubeObject>(resource: Resource, place: Place, settings?: RequestSettings): Promise<T> {
    return this.json<T>('GET', pathOf(resource, place), settings);
  }

  /** The object, or undefined when there is none. @throws DomainError NOT_SUPPORTED when its kind is not served */
  async find<T extends KubeObject>(
    resource: Resource,
    place: Place,
    settings?: RequestSettings,
  ): Promise<T | undefined> {
    try {
      return await this.get<T>(resource, place, settings);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** A collection page by page, all of one snapshot. */
  async *pages<T extends KubeObject>(resource: Resource, settings: ListSettings = {}): AsyncGenerator<KubeList<T>> {
    const { namespace, labelSelector, fieldSelector, signal } = settings;
    const path = pathOf(resource, { namespace });
    let next: string | undefined;
    do {
      const query: Query = { limit: PAGE_SIZE, labelSelector, fieldSelector, continue: next };
      const page: KubeList<T> = await this.json<KubeList<T>>('GET', path, { query, signal });
      yield page;
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
  }

  async list<T extends KubeObject>(resource: Resource, settings?: ListSettings): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages<T>(resource, settings)) items.push(...page.items);
    return items;
  }

  create<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    settings: { dryRun?: boolean } = {},
  ): Promise<T> {
    const path = pathOf(resource, { namespace: object.metadata.namespace });
    const query: Query = { dryRun: settings.dryRun ? 'All' : undefined };
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    return this.again(() => this.json<T>('POST', path, { body, query }));
  }

  /** A merge patch: it takes no notice of what others wrote meanwhile, so it may be sent again. */
  patch<T extends KubeObject>(resource: Resource, place: Place, body: unknown): Promise<T> {
    const contentType = 'application/merge-patch+json';
    return this.again(() => this.json<T>('PATCH', pathOf(resource, place), { body, contentType }));
  }

  /** @returns false when it was gone already, or another object stands there by now */
  async delete(resource: Resource, place: Place, { uid, gracePeriodSeconds }: DeleteSettings = {}): Promise<boolean> {
    const preconditions = uid === undefined ? undefined : { uid };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      gracePeriodSeconds,
      preconditions,
    };
    try {
      await this.again(() => this.json('DELETE', pathOf(resource, place), { body }));
      return true;
    } catch (error) {
      if (KubeApiError.has(error, 404)) return false;
      if (isAnotherObject(error)) return false;
      throw error;
    }
  }

  /** An action endpoint: success is any 2xx, with or without a body. */
  async act(path: string, body: unknown = {}): Promise<void> {
    await this.again(() => this.text('PUT', path, { body }));
  }

  /** @throws DomainError always of the translated kind */
  async json<T>(method: string, path: string, settings?: RequestSettings): Promise<T> {
    const text = await this.text(method, path, settings);
    try {
      return (text === '' ? {} : JSON.parse(text)) as T;
    } catch (error) {
      throw new DomainError(
        'BACKEND_FAILED',
        `The API server of ${this.context} answered ${path} with something that is not JSON.`,
        {
          cause: error,
        },
      );
    }
  }

  async text(method: string, path: string, settings: RequestSettings = {}): Promise<string> {
    const request: FailedRequest = { context: this.context, method, path };
    const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.translated(request, async (endpoint) => {
      const response = await exchange(endpoint, this.clock, this.exchangeOf(request, settings, timeoutMs));
      const body = await readText(response, this.clock, timeoutMs, () => errorOfTimeout(request, timeoutMs));
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return body;
      if (status === 401) this.credentials.forget();
      throw errorOfAnswer(request, status, body);
    });
  }

  /** The answer as a stream, once it began well; the caller destroys it. */
  async stream(path: string, settings: RequestSettings = {}): Promise<IncomingMessage> {
    const request: FailedRequest = { context: this.context, method: 'GET', path };
    const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.translated(request, async (endpoint) => {
      const response = await exchange(endpoint, this.clock, this.exchangeOf(request, settings, timeoutMs));
      const status = response.statusCode ?? 0;
      if (status === 200) return response;
      if (status === 401) this.credentials.forget();
      throw errorOfAnswer(
        request,
        status,
        await readText(response, this.clock, timeoutMs, () => errorOfTimeout(request, timeoutMs)),
      );
    });
  }

  /** An open WebSocket, paused: its stream resumes it. A refusal before the upgrade is translated like any other answer. */
  async socket(path: string, protocols: readonly string[], query: string = ''): Promise<WebSocket> {
    const request: FailedRequest = { context: this.context, method: 'GET', path };
    return this.translated(request, ({ url, options }) => {
      const address = new URL(url);
      address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
      address.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
      address.search = query;
      return new Promise<WebSocket>((resolve, reject) => {
        const socket = new WebSocket(address, [...protocols], { ...options, perMessageDeflate: false } as never);
        const cancel = this.clock.after(DEFAULT_TIMEOUT_MS, () => {
          reject(errorOfTimeout(request, DEFAULT_TIMEOUT_MS));
          socket.terminate();
        });
        socket.once('open', () => {
          cancel();
          socket.off('error', reject);
          // What the other side sends at once must wait for whoever is going to read it.
          socket.pause();
          resolve(socket);
        });
        socket.once('error', (error) => {
          cancel();
          reject(error);
        });
        socket.once('unexpected-response', (_request, response) => {
          cancel();
          readText(response, this.clock, DEFAULT_TIMEOUT_MS, () => errorOfTimeout(request, DEFAULT_TIMEOUT_MS)).then(
            (body) => reject(errorOfAnswer(request, response.statusCode ?? 0, body)),
            reject,
          );
        });
      });
    });
  }

  private exchangeOf(
    request: FailedRequest,
    { query, body, contentType, signal }: RequestSettings,
    timeoutMs: number,
  ): Exchange {
    return {
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
    };
  }

  private async translated<T>(request: FailedRequest, send: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const endpoint = await this.credentials.endpoint();
    try {
      return await send(endpoint);
    } catch (error) {
      throw errorOfTransport(request, endpoint.url.host, error);
    }
  }

  private async again<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (attempt >= CONFLICT_RETRIES || !isWriteConflict(error)) throw error;
        await this.clock.delay(CONFLICT_PAUSE_MS * 2 ** attempt * (0.5 + this.random() / 2));
      }
    }
  }
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text && `?${text}`;
}

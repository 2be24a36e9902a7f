import type { KubeSandbox } from '../kube-sandbox.js';

export interface ApiResponse<T = Record<string, unknown>> {
  code: number;
  body: T;
  text: string;
  headers: Headers;
}

/** An HTTP client of the sandbox. */
export class ApiClient {
  constructor(
    private readonly sandbox: KubeSandbox,
    private readonly token?: string,
  ) {}

  get<T = Record<string, unknown>>(path: string, headers: Record<string, string> = {}): Promise<ApiResponse<T>> {
    return this.send<T>('GET', path, undefined, headers);
  }

  post<T = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<T>> {
    return this.send<T>('POST', path, body, headers);
  }

  put<T = Record<string, unknown>>(path: string, body: unknown): Promise<ApiResponse<T>> {
    return this.send<T>('PUT', path, body);
  }

  /** @param type `merge`, `json`, `strategic-merge`, `apply` */
  patch<T = Record<string, unknown>>(path: string, body: unknown, type = 'merge'): Promise<ApiResponse<T>> {
    const contentType = type === 'apply' ? 'application/apply-patch+yaml' : `application/${type}-patch+json`;
    return this.send<T>('PATCH', path, body, { 'Content-Type': contentType });
  }

  delete<T = Record<string, unknown>>(path: string, body?: unknown): Promise<ApiResponse<T>> {
    return this.send<T>('DELETE', path, body);
  }

  /** Opens a watch. */
  async watch(path: string): Promise<WatchReader> {
    const abort = new AbortController();
    const response = await fetch(this.sandbox.url + path, { signal: abort.signal, headers: this.headers() });
    return new WatchReader(response, abort);
  }

  private async send<T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<T>> {
    const response = await fetch(this.sandbox.url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...this.headers(), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
    return {
      code: response.status,
      body: (isJson && text ? JSON.parse(text) : {}) as T,
      text,
      headers: response.headers,
    };
  }

  private headers(): Record<string, string> {
    return this.token ? { Authorization: `Bearer ${this.token}` } : {};
  }
}

export interface WatchEvent {
  type: string;
  object: {
    metadata: { name?: string; resourceVersion: string; annotations?: Record<string, string> };
    code?: number;
    message?: string;
  };
}

/** Reads the lines of a watch. */
export class WatchReader {
  private readonly lines: string[] = [];
  private rest = '';
  private readonly reader;

  constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {
    this.reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next event; undefined when the stream ended cleanly. @throws when the connection broke */
  async next(): Promise<WatchEvent | undefined> {
    while (this.lines.length === 0) {
      const { done, value } = await this.reader.read();
      if (done) return undefined;
      const parts = (this.rest + value).split('\n');
      this.rest = parts.pop() ?? '';
      this.lines.push(...parts);
    }
    return JSON.parse(this.lines.shift()!) as WatchEvent;
  }

  /** Types and names of the next events, such as `ADDED a`. */
  async take(count: number): Promise<string[]> {
    const seen: string[] = [];
    while (seen.length < count) {
      const event = await this.next();
      seen.push(event ? `${event.type} ${event.object.metadata?.name ?? ''}`.trim() : 'end');
    }
    return seen;
  }

  /** The incomplete last line. */
  get unfinished(): string {
    return this.rest;
  }

  close(): void {
    this.abort.abort();
  }
}

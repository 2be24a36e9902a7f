import type { Instance } from '../shared/instances/instance.js';

const PAGE_STREAM = '/api/ext/stream';

export interface MockRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface MockAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that arrives in pieces. */
  readonly text?: MockText;
}

type Handler = (request: MockRequest) => MockAnswer | Promise<MockAnswer>;

/** The service in tests: it answers the requests that a test defines, and records all others. */
export class MockService {
  readonly requests: MockRequest[] = [];
  /** Requests that the test did not define. A test fails when there are any. */
  readonly refused: string[] = [];
  readonly streams: MockStream[] = [];
  readonly sockets: MockSocket[] = [];
  private readonly handlers = new Map<string, Handler>();
  private readonly usual: [RegExp, unknown, number][] = [];

  /** Replaces the browser's network functions. */
  install(): void {
    const streams = this.streams;
    const sockets = this.sockets;
    Object.assign(globalThis, {
      fetch: (url: string, options?: RequestInit) => this.answer(url, options),
      EventSource: class extends MockStream {
        constructor(url: string) {
          super(url);
          streams.push(this);
        }
      },
      WebSocket: class extends MockSocket {
        constructor(url: string) {
          super(url);
          sockets.push(this);
        }
      },
    });
  }

  /** Defines the answer to a request such as `GET /api/nodes`. The last definition counts. */
  on(request: string, answer: Handler | unknown): this {
    this.handlers.set(request, typeof answer === 'function' ? (answer as Handler) : () => ({ body: answer }));
    return this;
  }

  /** Defines the answer to all requests that match, such as `GET /api/vms/…`, unless `on` defines another one. */
  usually(requests: RegExp, body: unknown, status = 200): this {
    this.usual.push([requests, body, status]);
    return this;
  }

  fails(request: string, status: number, error: string, code = 'SOME_CODE'): this {
    return this.on(request, () => ({ status, body: { error, code } }));
  }

  /** The requests with this method and path, in order. */
  asked(request: string): MockRequest[] {
    return this.requests.filter(({ method, path }) => `${method} ${path}` === request);
  }

  /** The list of VMs in the stream of the page. */
  get stream(): ListInStream {
    return this.listInStream('vms');
  }

  /** The latest stream of the page. */
  get pageStream(): MockStream {
    return this.latest((url) => url.startsWith(PAGE_STREAM));
  }

  /** A list in the stream of the page. */
  listInStream(list: 'vms' | 'cts'): ListInStream {
    return new ListInStream(this.pageStream, list);
  }

  /** The latest stream of a path. */
  streamOf(path: string): MockStream {
    return this.latest((url) => url === path);
  }

  private latest(isWanted: (url: string) => boolean): MockStream {
    const stream = this.streams.findLast(({ url }) => isWanted(url));
    if (!stream) throw new Error('No such event stream was opened.');
    return stream;
  }

  get socket(): MockSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error('No WebSocket was opened.');
    return socket;
  }

  private async answer(url: string, options: RequestInit = {}): Promise<Partial<Response>> {
    const { pathname, searchParams } = new URL(url, 'http://service.test');
    const method = options.method ?? 'GET';
    const headers = (options.headers ?? {}) as Record<string, string>;
    const body: unknown = typeof options.body === 'string' ? JSON.parse(options.body) : options.body;
    const request = { method, path: pathname, query: searchParams, headers, body };
    this.requests.push(request);
    const handler = this.handlers.get(`${method} ${pathname}`) ?? this.usualHandler(`${method} ${pathname}`);
    if (!handler) this.refused.push(`${method} ${pathname}`);
    const answer = handler
      ? await handler(request)
      : { status: 404, body: { error: 'The test does not define this request.', code: 'X' } };
    return responseOf(answer);
  }

  private usualHandler(request: string): Handler | undefined {
    const found = this.usual.find(([requests]) => requests.test(request));
    return found && (() => ({ body: found[1], status: found[2] }));
  }
}

function responseOf({ status = 200, body, text, headers = {} }: MockAnswer): Partial<Response> {
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: (name: string) => headers[name.toLowerCase()] ?? null } as Headers,
    json: () => Promise.resolve(body),
    blob: () => Promise.resolve(body as Blob),
    ...(text && { body: text as unknown as Response['body'] }),
  };
}

type Piece = { readonly done: boolean; readonly value?: Uint8Array };

/** A body that a test writes while the page reads it. */
export class MockText {
  /** Whether the page has stopped reading. */
  isCanceled = false;
  private readonly pieces: Promise<Piece>[] = [];
  private readonly waiting: ((piece: Promise<Piece>) => void)[] = [];

  write(text: string): this {
    return this.add(Promise.resolve({ done: false, value: new TextEncoder().encode(text) }));
  }

  end(): this {
    return this.add(Promise.resolve({ done: true }));
  }

  breakOff(): this {
    const broken = Promise.reject(new TypeError('network error'));
    broken.catch(() => undefined);
    return this.add(broken);
  }

  getReader() {
    return {
      read: (): Promise<Piece> => {
        const next = this.pieces.shift();
        if (next) return next;
        return new Promise((resolve) => void this.waiting.push(resolve));
      },
      cancel: async (): Promise<void> => void (this.isCanceled = true),
    };
  }

  private add(piece: Promise<Piece>): this {
    const waiting = this.waiting.shift();
    if (waiting) waiting(piece);
    else this.pieces.push(piece);
    return this;
  }
}

export class MockStream extends EventTarget {
  onerror: (() => void) | null = null;
  closed = false;

  constructor(readonly url: string) {
    super();
  }

  close(): void {
    this.closed = true;
  }

  /** @param lastEventId where a client can continue after this event */
  emit(event: string, data: unknown, lastEventId = ''): void {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data), lastEventId }));
  }

  break(): void {
    this.onerror?.();
  }
}

/** The events of one list in the stream of the page. */
export class ListInStream {
  constructor(
    private readonly stream: MockStream,
    private readonly list: 'vms' | 'cts',
  ) {}

  /** @param position where a client can continue after this event */
  emit(event: 'changed' | 'removed' | 'snapshot', data: unknown, position?: string): void {
    this.stream.emit(`${this.list}.${event}`, data, position);
  }

  /** The stream begins with these entries, and without any others. */
  snapshot(entries: readonly Instance[], position?: string): void {
    for (const list of ['vms', 'cts'] as const) this.stream.emit(`${list}.snapshot`, list === this.list ? entries : []);
    this.stream.emit('ready', {}, position);
  }

  break(): void {
    this.stream.break();
  }
}

export class MockSocket extends EventTarget {
  static readonly OPEN = 1;
  binaryType = 'blob';
  readyState = 0;
  readonly sent: (string | Uint8Array)[] = [];

  constructor(readonly url: string) {
    super();
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  /** The bytes that were sent, as text. */
  get typed(): string {
    return this.sent.map((data) => (typeof data === 'string' ? '' : new TextDecoder().decode(data))).join('');
  }

  open(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  deliver(text: string): void {
    this.dispatchEvent(new MessageEvent('message', { data: new TextEncoder().encode(text).buffer }));
  }

  close(reason = '', code = 1006): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { reason, code }));
  }
}

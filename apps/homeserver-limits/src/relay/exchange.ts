import { corsHeaders } from '@headgate/homeserver-contracts';
import type { MatrixError } from '@headgate/matrix-protocol';
import type { UpstreamKind } from '../metrics/limits-metrics.js';
import { CONNECT_TIMEOUT_MS, IDEMPOTENT_METHODS, type UpstreamListener } from '../gateway/upstream-client.js';
import { InvalidUpstreamResponse, upstreamFailure, UpstreamTimeout } from '../gateway/upstream-failure.js';
import { HOP_BY_HOP, NOT_REMOVABLE } from '../gateway/upstream-headers.js';
import { ChunkedScanner } from './chunked-scanner.js';
import { HEADER, headerSet } from './header-lines.js';
import { MAX_HEAD_BYTES, readResponseHead, type RequestHead, type ResponseHead } from './http-head.js';
import type { ConnectionUser, UpstreamConnection, UpstreamPool } from './upstream-pool.js';

/** A request on its way to the upstream. */
export interface RelayedRequest {
  readonly head: RequestHead;
  /** The head as the upstream receives it. */
  readonly text: string;
  /** Whether it is forwarded to its end even when the caller hangs up. */
  readonly outlivesCaller: boolean;
  /** How long the upstream may be silent. */
  readonly timeoutMs: number;
  readonly kind: UpstreamKind;
}

/** The client's side of an exchange. */
export interface ExchangeClient {
  /** Whether the connection is closed after this response. */
  readonly closesAfterResponse: boolean;
  /** @returns whether more may be written now */
  write(head: string, body: Buffer | undefined): boolean;
  /** The upstream accepts no more of the body for now. */
  pauseBody(): void;
  resumeBody(): void;
  /** The response is complete. */
  finish(): void;
  /** There is no response of the upstream. */
  fail(error: MatrixError): void;
  /** The response broke off. */
  abort(): void;
}

/** How exact timeouts are. Reading the real clock at each step of each request would take longer than the rest of it. */
export const CLOCK_STEP_MS = 250;

/** A clock that is set every `CLOCK_STEP_MS`. */
export interface CoarseClock {
  readonly nowMs: number;
}

export interface ExchangeDeps {
  pool: UpstreamPool;
  clock: CoarseClock;
  onAnswer: UpstreamListener;
  /** The upstream does not accept the token of this request. */
  onUnauthorized: (head: RequestHead) => void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY: Buffer = Buffer.alloc(0);
const CORS = corsHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
/** Bodies up to this length are written together with the head, in one system call. */
export const SMALL_BODY_BYTES = 16 * 1024;
const DROPPED_FROM_RESPONSE = headerSet(HOP_BY_HOP);

type State = 'head' | 'length' | 'chunked' | 'until close' | 'done';

/** One request that is sent to the upstream, and its response. Nothing of either is kept in memory but their heads. */
export class Exchange implements ConnectionUser {
  private connection: UpstreamConnection;
  private client: ExchangeClient | undefined;
  private state: State = 'head';
  private pendingHead: Buffer = EMPTY;
  private scanner?: ChunkedScanner;
  private responseRemaining = 0;
  private bodyRemaining: number;
  private persists = false;
  private hasReceived = false;
  private readonly beganMs: number;
  private lastActivityMs: number;

  /** Sends the request with the part of its body that has arrived. */
  constructor(
    private readonly request: RelayedRequest,
    body: Buffer | undefined,
    client: ExchangeClient,
    private readonly deps: ExchangeDeps,
  ) {
    this.client = client;
    this.bodyRemaining = request.head.contentLength - (body?.length ?? 0);
    this.beganMs = performance.now();
    this.lastActivityMs = deps.clock.nowMs;
    this.connection = deps.pool.take(this);
    this.send(body);
  }

  /** How much of the request's body has not arrived. */
  get missingBodyBytes(): number {
    return this.bodyRemaining;
  }

  /** @param bytes the next part of the request's body, not more than is missing */
  writeBody(bytes: Buffer): void {
    this.bodyRemaining -= bytes.length;
    // The upstream has responded without reading all of it.
    if (this.state === 'done') return;
    this.lastActivityMs = this.deps.clock.nowMs;
    if (!this.connection.socket.write(bytes)) this.client?.pauseBody();
  }

  /** The client may receive more. */
  resumeResponse(): void {
    if (this.state !== 'done') this.connection.socket.resume();
  }

  /** The client has hung up. */
  hangUp(): void {
    this.client = undefined;
    if (!this.request.outlivesCaller || this.bodyRemaining > 0 || this.state !== 'head') this.leave();
  }

  /** Ends the exchange if the upstream has been silent for too long. */
  check(nowMs: number): void {
    if (this.state === 'done') return;
    const { timeoutMs } = this.request;
    const limitMs = this.connection.isConnected ? timeoutMs : Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
    if (nowMs - this.lastActivityMs >= limitMs + CLOCK_STEP_MS) this.fail(new UpstreamTimeout());
  }

  onData(bytes: Buffer): void {
    this.hasReceived = true;
    this.lastActivityMs = this.deps.clock.nowMs;
    if (this.state === 'head') this.receiveHead(bytes);
    else this.receiveBody(bytes, '');
  }

  onDrain(): void {
    this.lastActivityMs = this.deps.clock.nowMs;
    this.client?.resumeBody();
  }

  onClose(error?: Error): void {
    if (this.state === 'until close' && !error) {
      this.client?.write('0\r\n\r\n', undefined);
      this.finish();
    } else if (this.maySendAgain(error)) {
      // Not on another kept-alive connection, which may be just as old.
      this.connection = this.deps.pool.open(this);
      this.lastActivityMs = this.deps.clock.nowMs;
      this.send(undefined);
    } else this.fail(error ?? new InvalidUpstreamResponse('the upstream sent no response'));
  }

  private send(body: Buffer | undefined): void {
    const { socket } = this.connection;
    const { text } = this.request;
    let isWritable: boolean;
    if (body === undefined) isWritable = socket.write(text, 'latin1');
    else if (body.length <= SMALL_BODY_BYTES) {
      isWritable = socket.write(text + body.toString('latin1', 0, body.length), 'latin1');
    } else {
      socket.write(text, 'latin1');
      isWritable = socket.write(body);
    }
    if (!isWritable && this.bodyRemaining > 0) this.client?.pauseBody();
  }

  /** Whether the upstream closed a kept-alive connection just as it was reused, and the request may reach it twice. */
  private maySendAgain(error: (Error & { code?: string }) | undefined): boolean {
    const { method, contentLength } = this.request.head;
    const isStale = this.connection.isReused && !this.hasReceived;
    const isReset = error === undefined || error.code === 'ECONNRESET' || error.code === 'EPIPE';
    return isStale && isReset && contentLength === 0 && IDEMPOTENT_METHODS.has(method) && this.state === 'head';
  }

  private receiveHead(bytes: Buffer): void {
    let received = this.pendingHead.length === 0 ? bytes : Buffer.concat([this.pendingHead, bytes]);
    for (;;) {
      const end = received.indexOf(HEAD_END);
      if (end < 0 || end > MAX_HEAD_BYTES) {
        if (received.length > MAX_HEAD_BYTES)
          this.fail(new InvalidUpstreamResponse('the head of the response is too large'));
        else this.pendingHead = received;
        return;
      }
      const head = readResponseHead(received, end + 4);
      if (!head || head.status === 101) {
        return this.fail(
          new InvalidUpstreamResponse(`the upstream sent an invalid response${head ? ' (status 101)' : ''}`),
        );
      }
      received = received.subarray(end + 4);
      if (head.status >= 200) return this.begin(head, received);
    }
  }

  private begin(head: ResponseHead, rest: Buffer): void {
    this.pendingHead = EMPTY;
    this.deps.onAnswer(this.request.kind, performance.now() - this.beganMs);
    if (head.status === 401) this.deps.onUnauthorized(this.request.head);
    // The caller has hung up; the upstream has done its work.
    if (!this.client) return this.leave();
    this.persists = head.persists;
    const hasNoBody = this.request.head.method === 'HEAD' || head.status === 204 || head.status === 304;
    if (hasNoBody) this.state = 'length';
    else if (head.isChunked) {
      this.state = 'chunked';
      this.scanner = new ChunkedScanner();
    } else if (head.contentLength === undefined) this.state = 'until close';
    else {
      this.state = 'length';
      this.responseRemaining = head.contentLength;
    }
    const isChunked = this.state === 'chunked' || this.state === 'until close';
    this.receiveBody(rest, responseHeadText(head, isChunked, this.client.closesAfterResponse));
  }

  /** @param head the text to write before these bytes */
  private receiveBody(bytes: Buffer, head: string): void {
    if (this.state === 'length') this.receiveLength(bytes, head);
    else if (this.state === 'chunked') this.receiveChunked(bytes, head);
    else this.receiveUntilClose(bytes, head);
  }

  private receiveLength(bytes: Buffer, head: string): void {
    const taken = bytes.length > this.responseRemaining ? bytes.subarray(0, this.responseRemaining) : bytes;
    this.responseRemaining -= taken.length;
    this.write(head, taken);
    // More than the response: whatever follows was not asked for.
    if (taken.length < bytes.length) this.persists = false;
    if (this.responseRemaining === 0) this.finish();
  }

  private receiveChunked(bytes: Buffer, head: string): void {
    const scanned = this.scanner?.scan(bytes);
    if (!scanned) return head === '' ? this.fail(new InvalidUpstreamResponse('invalid chunks')) : this.breakOff(head);
    const { chunkBytes, consumed } = scanned;
    const isDone = this.scanner?.isDone ?? false;
    const chunks = bytes.subarray(0, chunkBytes);
    this.write(head, isDone ? Buffer.concat([chunks, LAST_LINE]) : chunks);
    if (!isDone) return;
    if (consumed < bytes.length) this.persists = false;
    this.finish();
  }

  private receiveUntilClose(bytes: Buffer, head: string): void {
    if (bytes.length === 0) return this.write(head, bytes);
    this.write(`${head}${bytes.length.toString(16)}\r\n`, Buffer.concat([bytes, LAST_LINE]));
  }

  private write(head: string, body: Buffer): void {
    if (head === '' && body.length === 0) return;
    if (this.client?.write(head, body) === false) this.connection.socket.pause();
  }

  /** The response begins with something invalid: the client sees its head and a closed connection. */
  private breakOff(head: string): void {
    this.write(head, EMPTY);
    this.fail(new InvalidUpstreamResponse('invalid chunks'));
  }

  private finish(): void {
    const { client, connection } = this;
    this.state = 'done';
    this.client = undefined;
    connection.user = undefined;
    if (this.persists && this.bodyRemaining === 0) this.deps.pool.release(connection, this.deps.clock.nowMs);
    else connection.socket.destroy();
    client?.finish();
  }

  private fail(error: Error): void {
    const { client, state } = this;
    this.leave();
    if (state !== 'head') return client?.abort();
    const failure = upstreamFailure(error);
    this.deps.onAnswer(this.request.kind, 0, failure.status === 504 ? 504 : 502);
    client?.fail(failure);
  }

  /** Closes the connection, which no other exchange can use. */
  private leave(): void {
    this.state = 'done';
    this.client = undefined;
    this.connection.user = undefined;
    this.connection.socket.destroy();
  }
}

const LAST_LINE = Buffer.from('\r\n');

const isRemovable = (name: string): boolean => !NOT_REMOVABLE.has(name);

/** The head of a response as the client receives it. */
function responseHeadText(head: ResponseHead, isChunked: boolean, closes: boolean): string {
  const { headers, connectionHeaders } = head;
  const named = connectionHeaders.length === 0 ? connectionHeaders : connectionHeaders.filter(isRemovable);
  const statusLine = head.statusText.length > 3 ? head.statusText : `${head.statusText} `;
  const kept =
    named.length === 0 ? headers.without(DROPPED_FROM_RESPONSE) : headers.withoutNamed(DROPPED_FROM_RESPONSE, named);
  let text = `HTTP/1.1 ${statusLine}\r\n${kept}`;
  if (!headers.has(HEADER['access-control-allow-origin'])) text += CORS;
  if (!headers.has(HEADER.date)) text += `Date: ${new Date().toUTCString()}\r\n`;
  if (isChunked) text += 'Transfer-Encoding: chunked\r\n';
  return text + (closes ? 'Connection: close\r\n\r\n' : 'Connection: keep-alive\r\nKeep-Alive: timeout=72\r\n\r\n');
}

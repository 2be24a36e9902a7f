import { ChunkedScanner } from '../parser/chunked-scanner.js';
import { MAX_HEAD_BYTES, readResponseHead, type RequestHead, type ResponseHead } from '../parser/http-head.js';
import { failureStatusOf, InvalidUpstreamResponse, UpstreamTimeout } from '../pool/upstream-errors.js';
import type { ConnectionUser, UpstreamConnection, UpstreamPool } from '../pool/upstream-pool.js';
import { IDEMPOTENT_METHODS } from './idempotent-methods.js';
import type { AnswerListener, RelayedRequest } from './relayed-request.js';
import { releaseBytes } from './release-bytes.js';
import { responseHeadText } from './response-head-text.js';

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
  fail(error: Error): void;
  /** The response broke off. */
  abort(): void;
}

/**
 * How exact timeouts are. Reading the real clock at each step of each request would take longer than the rest of it.
 */
export const CLOCK_STEP_MS = 250;

/** A clock that is set every `CLOCK_STEP_MS`. */
export interface CoarseClock {
  readonly nowMs: number;
}

export interface ExchangeDeps<Kind extends string> {
  pool: UpstreamPool;
  clock: CoarseClock;
  onAnswer: AnswerListener<Kind>;
  /** The upstream does not accept the credentials of this request: 401. */
  onUnauthorized: (head: RequestHead) => void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY: Buffer = Buffer.alloc(0);
/** Bodies up to this length are written together with the head, in one system call. */
export const SMALL_BODY_BYTES = 16 * 1024;

type State = 'head' | 'length' | 'chunked' | 'until close' | 'done';

/**
 * One request that is sent to the upstream, and its response. Nothing of either is kept in memory but their heads, and
 * the beginning of the request's body until it is sent.
 */
export class Exchange<Kind extends string> implements ConnectionUser {
  /** Absent while it waits for one. */
  private connection: UpstreamConnection | undefined;
  private isRepeated = false;
  /** The part of the body that is not sent, or that may have to be sent again. */
  private keptBody: Buffer | undefined;
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
    private readonly request: RelayedRequest<Kind>,
    body: Buffer | undefined,
    client: ExchangeClient,
    private readonly deps: ExchangeDeps<Kind>,
  ) {
    this.client = client;
    this.bodyRemaining = request.head.contentLength - (body?.length ?? 0);
    this.beganMs = performance.now();
    this.lastActivityMs = deps.clock.nowMs;
    this.keptBody = body;
    this.connection = deps.pool.take(this);
    if (this.connection) this.send(this.connection);
    else if (this.bodyRemaining > 0) client.pauseBody();
  }

  get needsNewConnection(): boolean {
    return this.isRepeated;
  }

  get maxWaitMs(): number {
    return this.request.timeoutMs;
  }

  /** How much of the request's body has not arrived. */
  get missingBodyBytes(): number {
    return this.bodyRemaining;
  }

  /** @param bytes the next part of the request's body, not more than is missing */
  writeBody(bytes: Buffer): void {
    this.bodyRemaining -= bytes.length;
    // The upstream has responded without reading all of it.
    if (this.state === 'done') return releaseBytes(bytes);
    this.lastActivityMs = this.deps.clock.nowMs;
    if (!this.connection) this.keptBody = this.keptBody ? Buffer.concat([this.keptBody, bytes]) : bytes;
    else if (!this.connection.socket.write(bytes, () => releaseBytes(bytes))) this.client?.pauseBody();
  }

  /** The client may receive more. */
  resumeResponse(): void {
    if (this.state !== 'done') this.connection?.socket.resume();
  }

  /** The client has hung up. */
  hangUp(): void {
    this.client = undefined;
    if (!this.request.outlivesCaller || this.bodyRemaining > 0 || this.state !== 'head') this.leave();
  }

  /** Ends the exchange if the upstream has been silent for too long. */
  check(nowMs: number): void {
    if (this.state === 'done') return;
    if (nowMs - this.lastActivityMs >= this.request.timeoutMs + CLOCK_STEP_MS) this.fail(new UpstreamTimeout());
  }

  onConnection(connection: UpstreamConnection): void {
    this.connection = connection;
    this.lastActivityMs = this.deps.clock.nowMs;
    if (this.bodyRemaining > 0) this.client?.resumeBody();
    this.send(connection);
  }

  onUnavailable(error: Error): void {
    if (this.state !== 'done') this.fail(error);
  }

  onData(bytes: Buffer): void {
    this.hasReceived = true;
    this.keptBody = undefined;
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
      this.isRepeated = true;
      this.connection = this.deps.pool.take(this);
    } else this.fail(error ?? new InvalidUpstreamResponse('the upstream sent no response'));
  }

  private send({ socket, isReused }: UpstreamConnection): void {
    const { text } = this.request;
    const body = this.keptBody;
    const mayRepeat = isReused && this.isIdempotent && this.bodyRemaining === 0;
    if (!mayRepeat || (body && body.length > SMALL_BODY_BYTES)) this.keptBody = undefined;
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
    const isStale = this.connection?.isReused && !this.hasReceived && !this.isRepeated;
    const isReset = error === undefined || error.code === 'ECONNRESET' || error.code === 'EPIPE';
    const hasBody = this.keptBody?.length === this.request.head.contentLength || this.request.head.contentLength === 0;
    return isStale === true && isReset && hasBody && this.isIdempotent && this.state === 'head';
  }

  private get isIdempotent(): boolean {
    return IDEMPOTENT_METHODS.has(this.request.head.method);
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
    this.receiveBody(rest, responseHeadText(head, { isChunked, closes: this.client.closesAfterResponse }));
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
    if (this.client?.write(head, body) === false) this.connection?.socket.pause();
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
    if (connection) {
      connection.user = undefined;
      if (this.persists && this.bodyRemaining === 0) this.deps.pool.release(connection, this.deps.clock.nowMs);
      else connection.socket.destroy();
    }
    client?.finish();
  }

  private fail(error: Error): void {
    const { client, state } = this;
    this.leave();
    if (state !== 'head') return client?.abort();
    this.deps.onAnswer(this.request.kind, 0, failureStatusOf(error));
    client?.fail(error);
  }

  /** Closes the connection, which no other exchange can use, or stops to wait for one. */
  private leave(): void {
    this.state = 'done';
    this.client = undefined;
    this.keptBody = undefined;
    if (!this.connection) return this.deps.pool.cancel(this);
    this.connection.user = undefined;
    this.connection.socket.destroy();
  }
}

const LAST_LINE = Buffer.from('\r\n');

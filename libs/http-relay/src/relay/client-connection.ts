import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { beginsRequest, MAX_HEAD_BYTES, readRequestHead, type RequestHead } from '../parser/http-head.js';
import { BodyPace } from './body-pace.js';
import { BodyStart, bytesToBegin } from './body-start.js';
import { Exchange, type ExchangeClient, type ExchangeDeps, SMALL_BODY_BYTES } from './exchange.js';
import { NodeConnection, type NodeConnectionClient, type WrittenChunk } from './node-connection.js';
import type { PlanRequest, RelayedRequest, RespondToFailure } from './relayed-request.js';
import { releaseBytes } from './release-bytes.js';
import type { ClientPeer } from './request-head-text.js';

export interface ClientConnectionDeps<Kind extends string> extends ExchangeDeps<Kind> {
  plan: PlanRequest<Kind>;
  trusts: (address: string) => boolean;
  /** Gives a connection to Node's server. */
  handOver: (connection: Duplex) => void;
  onClose: (connection: ClientConnection<Kind>) => void;
  respondToFailure: RespondToFailure;
  isClosing: () => boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** How long the head of a request may take, as with Node's server, and then the beginning of its body. */
const HEAD_TIMEOUT_MS = 60_000;
const BODY_TIMEOUT_MS = 30 * 60 * 1000;
export const IDLE_CLIENT_TIMEOUT_MS = 72_000;
/** How much of a body that the upstream did not read is discarded, so that the client receives the response. */
const DISCARD_BYTES = 64 * 1024 * 1024;
const DISCARD_TIMEOUT_MS = 5_000;
/**
 * Heads come in one piece or few. Whatever dribbles is left to Node's server, which keeps no bytes that it has read.
 */
const MAX_HEAD_PIECES = 8;
/**
 * After more requests in a row for Node's server, it takes the socket itself, which is cheaper for a connection without
 * relayed requests.
 */
const MAX_NODE_REQUESTS = 16;
/** Requests that are pipelined beyond this wait in the network. */
const MAX_PENDING_BYTES = MAX_HEAD_BYTES;

/**
 * A client's connection. Its requests are relayed, or handled by Node's server over a connection that carries only
 * those. A request that the relay can't read moves the socket itself to Node's server, and so do many requests in a row
 * for that server.
 */
export class ClientConnection<Kind extends string> implements ExchangeClient, NodeConnectionClient {
  private pending: Buffer | undefined;
  private pieces = 0;
  private exchange: Exchange<Kind> | NodeConnection | undefined;
  /** The next request, until its body has begun. */
  private bodyStart: BodyStart<Kind> | undefined;
  private node: NodeConnection | undefined;
  /** How many requests in a row Node's server has handled. */
  private nodeRequests = 0;
  private target = '';
  private closes = false;
  private discardBytes = 0;
  private readonly pace = new BodyPace();
  /** When the connection is closed, unless something happens before. */
  private deadlineMs: number;
  private readonly peer: ClientPeer;

  constructor(
    private readonly socket: Socket,
    private readonly deps: ClientConnectionDeps<Kind>,
  ) {
    const address = socket.remoteAddress ?? '';
    this.peer = { address, isTrusted: deps.trusts(address) };
    this.deadlineMs = deps.clock.nowMs + HEAD_TIMEOUT_MS;
    socket
      .on('data', this.onData)
      .on('end', this.onEnd)
      .on('drain', this.onDrain)
      .on('error', this.onError)
      .on('close', this.onClose);
  }

  get closesAfterResponse(): boolean {
    return this.closes || this.deps.isClosing();
  }

  get remoteAddress(): string {
    return this.peer.address;
  }

  /** Whether no request is in progress. */
  get isIdle(): boolean {
    return !this.exchange && !this.bodyStart && this.pending === undefined && this.discardBytes === 0;
  }

  check(nowMs: number): void {
    if (nowMs < this.deadlineMs && !this.pace.isTooSlow(nowMs, this.socket.isPaused())) return;
    this.deadlineMs = Infinity;
    this.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  write(head: string, body: Buffer | undefined): boolean {
    const { socket } = this;
    if (body === undefined || body.length === 0) return socket.write(head, 'latin1');
    if (head === '') return socket.write(body, () => releaseBytes(body));
    if (body.length <= SMALL_BODY_BYTES) return socket.write(head + body.toString('latin1', 0, body.length), 'latin1');
    socket.cork();
    socket.write(head, 'latin1');
    const isWritable = socket.write(body);
    socket.uncork();
    return isWritable;
  }

  writeChunks(chunks: readonly WrittenChunk[]): boolean {
    const { socket } = this;
    let isWritable = true;
    socket.cork();
    for (const { chunk, encoding } of chunks) {
      isWritable = typeof chunk === 'string' ? socket.write(chunk, encoding) : socket.write(chunk);
    }
    socket.uncork();
    return isWritable;
  }

  pauseBody(): void {
    this.socket.pause();
  }

  resumeBody(): void {
    this.pace.resume(this.deps.clock.nowMs);
    this.socket.resume();
  }

  finish(): void {
    const missing = this.exchange?.missingBodyBytes ?? 0;
    this.exchange = undefined;
    this.pace.end();
    if (this.socket.isPaused()) this.socket.resume();
    if (missing > 0) return this.discard(missing);
    if (this.closesAfterResponse) return this.end();
    this.deadlineMs = this.deps.clock.nowMs + IDLE_CLIENT_TIMEOUT_MS;
    if (this.pending) this.next();
  }

  finishAndClose(): void {
    this.closes = true;
    this.finish();
  }

  fail(error: Error): void {
    const connection = this.closesAfterResponse ? 'close' : 'keep-alive';
    this.socket.write(this.deps.respondToFailure(error, { target: this.target, connection }));
    this.finish();
  }

  abort(): void {
    this.exchange = undefined;
    this.destroy();
  }

  private readonly onData = (bytes: Buffer): void => {
    const missing = this.exchange?.missingBodyBytes ?? 0;
    if (missing > 0) return this.receiveBody(bytes, missing);
    if (this.bodyStart) return this.receiveStart(bytes, this.bodyStart);
    if (this.discardBytes > 0) return this.receiveDiscarded(bytes);
    this.pending = this.pending ? Buffer.concat([this.pending, bytes]) : bytes;
    if (!this.exchange) this.next();
    else if (this.pending.length > MAX_PENDING_BYTES) this.socket.pause();
  };

  /** As with Node's server, a client that ends its connection gets no response anymore. */
  private readonly onEnd = (): void => {
    if (this.exchange || this.bodyStart) this.destroy();
    else this.socket.end();
  };

  private readonly onDrain = (): void => this.exchange?.resumeResponse();

  private readonly onError = (): void => undefined;

  private readonly onClose = (): void => {
    this.deps.onClose(this);
    this.exchange?.hangUp();
    this.exchange = undefined;
    this.node?.detach();
  };

  private receiveBody(bytes: Buffer, missing: number): void {
    const body = bytes.length > missing ? bytes.subarray(0, missing) : bytes;
    if (bytes.length > missing) this.pending = bytes.subarray(missing);
    this.pace.add(body.length);
    if (body.length === missing) {
      this.deadlineMs = Infinity;
      this.pace.end();
    }
    this.exchange?.writeBody(body);
  }

  private receiveStart(bytes: Buffer, start: BodyStart<Kind>): void {
    const missing = start.missingBytes;
    const body = start.add(bytes.length > missing ? bytes.subarray(0, missing) : bytes);
    if (!body) return;
    if (bytes.length > missing) this.pending = bytes.subarray(missing);
    this.bodyStart = undefined;
    this.relay(start.request, body);
  }

  /** Sends a request with the part of its body that has arrived. */
  private relay(request: RelayedRequest<Kind>, body: Buffer | undefined): void {
    const isComplete = (body?.length ?? 0) === request.head.contentLength;
    this.deadlineMs = isComplete ? Infinity : this.deps.clock.nowMs + BODY_TIMEOUT_MS;
    if (!isComplete) this.pace.begin(this.deps.clock.nowMs);
    this.exchange = new Exchange(request, body, this, this.deps);
  }

  /** The rest of a body that the upstream did not read. */
  private discard(missing: number): void {
    if (missing > DISCARD_BYTES) return this.end();
    this.discardBytes = missing;
    this.deadlineMs = this.deps.clock.nowMs + DISCARD_TIMEOUT_MS;
  }

  private receiveDiscarded(bytes: Buffer): void {
    const discarded = Math.min(bytes.length, this.discardBytes);
    this.discardBytes -= discarded;
    if (this.discardBytes > 0) return releaseBytes(bytes);
    this.pending = discarded < bytes.length ? bytes.subarray(discarded) : undefined;
    this.finish();
  }

  /** Starts with the next request, if its head has arrived. */
  private next(): void {
    const bytes = this.pending;
    if (!bytes || this.socket.destroyed) return;
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return this.awaitHead(bytes);
    const head = end > MAX_HEAD_BYTES ? undefined : readRequestHead(bytes, end + 4);
    const request = head && this.deps.plan(head, this.peer);
    this.nodeRequests = request ? 0 : this.nodeRequests + 1;
    if (!head || this.nodeRequests > MAX_NODE_REQUESTS) return this.handOver(bytes);
    this.start(head, request, bytes, end + 4);
  }

  private start(head: RequestHead, request: RelayedRequest<Kind> | undefined, bytes: Buffer, bodyStart: number): void {
    const bodyEnd = bodyStart + head.contentLength;
    this.pieces = 0;
    this.target = head.target;
    this.closes = head.closes;
    this.pending = bytes.length > bodyEnd ? bytes.subarray(bodyEnd) : undefined;
    this.deadlineMs = bytes.length < bodyEnd ? this.deps.clock.nowMs + BODY_TIMEOUT_MS : Infinity;
    if (!request) return this.leaveToNode(bytes.subarray(0, bodyEnd), Math.max(0, bodyEnd - bytes.length));
    const body = bytes.length > bodyStart ? bytes.subarray(bodyStart, bodyEnd) : undefined;
    if ((body?.length ?? 0) >= bytesToBegin(request)) return this.relay(request, body);
    this.bodyStart = new BodyStart(request);
    if (body) this.bodyStart.add(body);
    this.deadlineMs = this.deps.clock.nowMs + HEAD_TIMEOUT_MS;
  }

  private leaveToNode(bytes: Buffer, missingBytes: number): void {
    const { node } = this;
    const isOpen = node !== undefined && !node.destroyed;
    const connection = isOpen ? node : new NodeConnection(this);
    this.node = this.exchange = connection;
    if (!isOpen) {
      this.deps.handOver(connection);
      connection.releaseWhenRead();
    }
    connection.begin(bytes, missingBytes);
  }

  private awaitHead(bytes: Buffer): void {
    this.pieces++;
    const isExpected = bytes.length <= MAX_HEAD_BYTES && beginsRequest(bytes);
    if (!isExpected || this.pieces > MAX_HEAD_PIECES) return this.handOver(bytes);
    if (this.pieces === 1) this.deadlineMs = this.deps.clock.nowMs + HEAD_TIMEOUT_MS;
  }

  /** From here on, Node's server reads the socket, beginning with these bytes. */
  private handOver(bytes: Buffer): void {
    const { socket } = this;
    this.node?.detach();
    socket
      .off('data', this.onData)
      .off('end', this.onEnd)
      .off('drain', this.onDrain)
      .off('error', this.onError)
      .off('close', this.onClose);
    this.pending = undefined;
    this.deps.onClose(this);
    socket.pause();
    socket.unshift(bytes);
    this.deps.handOver(socket);
    socket.resume();
  }

  private end(): void {
    this.deadlineMs = this.deps.clock.nowMs + DISCARD_TIMEOUT_MS;
    this.socket.destroySoon();
  }
}

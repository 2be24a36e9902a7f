import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RequestHead } from '../parser/http-head.js';
import { UpstreamPool } from '../pool/upstream-pool.js';
import { ClientConnection, type ClientConnectionDeps } from './client-connection.js';
import { CLOCK_STEP_MS } from './exchange.js';
import { NodeConnection } from './node-connection.js';
import type { AnswerListener, PlanRequest, RespondToFailure } from './relayed-request.js';

/** @typeParam Kind the kinds of requests that the application counts separately */
export interface RelayDeps<Kind extends string> {
  /** The server that receives relayed requests, without TLS: its host and port. */
  upstream: URL;
  plan: PlanRequest<Kind>;
  /** Whether the headers of a peer about the way of a request are trusted. Called once per connection. */
  trusts: (address: string) => boolean;
  /**
   * Called when the head of a response has arrived, or when there is none. Not if the request was given up because its
   * caller has hung up.
   */
  onAnswer: AnswerListener<Kind>;
  /** The upstream does not accept the credentials of this request: 401. */
  onUnauthorized: (head: RequestHead) => void;
  respondToFailure: RespondToFailure;
  /** How long the upstream may accept no connection at all. */
  connectTimeoutMs?: number;
}

/**
 * Relays requests from socket to socket. It receives all connections of an HTTP server. Requests that are not planned
 * to be relayed are passed to Node's HTTP server; the first one that is unusual or invalid moves the connection there.
 * The relay never refuses a request itself.
 */
export class Relay<Kind extends string = string> {
  private readonly pool: UpstreamPool;
  private readonly clients = new Set<ClientConnection<Kind>>();
  private sweeper: NodeJS.Timeout | undefined;
  private drainTimer: NodeJS.Timeout | undefined;
  private isClosing = false;
  private readonly clock = { nowMs: performance.now() };

  constructor(private readonly deps: RelayDeps<Kind>) {
    const { connectTimeoutMs } = deps;
    this.pool = new UpstreamPool(deps.upstream, connectTimeoutMs === undefined ? {} : { connectTimeoutMs });
  }

  /** How many requests wait for a connection to the upstream. */
  get waitingCount(): number {
    return this.pool.waitingCount;
  }

  /** Takes the new connections of a server, before or after it listens. Call it once. */
  attach(server: Server): void {
    const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
    // Node's server accepts any duplex stream. Source: https://nodejs.org/api/http.html#event-connection
    const handOver = (connection: Duplex) => {
      for (const listener of listeners) listener.call(server, connection as Socket);
    };
    const connectionDeps: ClientConnectionDeps<Kind> = {
      ...this.deps,
      pool: this.pool,
      clock: this.clock,
      handOver,
      onClose: (connection) => void this.clients.delete(connection),
      isClosing: () => this.isClosing,
    };
    server.prependListener('request', (request, response) => {
      const connection: Duplex = request.socket;
      if (connection instanceof NodeConnection) connection.follow(response);
    });
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      if (this.isClosing) handOver(socket);
      else this.clients.add(new ClientConnection(socket, connectionDeps));
    });
    this.sweeper = setInterval(() => this.sweep(), CLOCK_STEP_MS).unref();
  }

  /**
   * Closes idle connections, and the others after their response or this time. New connections are left to Node's
   * server.
   */
  drain(timeoutMs: number): void {
    this.isClosing = true;
    for (const client of this.clients) if (client.isIdle) client.destroy();
    this.drainTimer ??= setTimeout(() => {
      for (const client of this.clients) client.destroy();
    }, timeoutMs);
  }

  /** Closes the connections to the upstream. Those of clients are closed by `drain`. */
  close(): void {
    clearTimeout(this.drainTimer);
    clearInterval(this.sweeper);
    this.pool.close();
  }

  private sweep(): void {
    const nowMs = (this.clock.nowMs = performance.now());
    for (const client of this.clients) client.check(nowMs);
    this.pool.sweep(nowMs);
  }
}

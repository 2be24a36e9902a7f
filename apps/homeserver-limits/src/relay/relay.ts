import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { accessTokenIn, parseQuery } from '@headgate/homeserver-contracts';
import type { MatrixError } from '@headgate/matrix-protocol';
import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { CallerAddress } from '../edge/caller-address.js';
import { withoutSecrets } from '../edge/dispatcher.js';
import type { GatewayIdentity } from '../gateway/gateway-identity.js';
import type { UpstreamListener } from '../gateway/upstream-client.js';
import { ClientConnection, type ClientConnectionDeps } from './client-connection.js';
import { CLOCK_STEP_MS } from './exchange.js';
import type { RequestHead } from './http-head.js';
import { NodeConnection } from './node-connection.js';
import type { RelayPlan } from './relay-plan.js';
import { UpstreamPool } from './upstream-pool.js';

export interface RelayDeps {
  upstream: URL;
  plan: Pick<RelayPlan, 'of'>;
  addresses: Pick<CallerAddress, 'trusts'>;
  identity: Pick<GatewayIdentity, 'forget'>;
  onAnswer: UpstreamListener;
  log: Pick<Logger, 'warn'>;
  /** How long the upstream may accept no connection at all. */
  connectTimeoutMs?: number;
}

/** Requests in progress at shutdown get this long to complete, as in `ConnectionDrain`. */
const DRAIN_TIMEOUT_MS = 3_000;

/**
 * Relays requests that the gateway does not have to read, from socket to socket. It receives all connections. Requests that are bounded, counted or
 * answered by the gateway are passed to Node's HTTP server; the first one that is unusual or invalid moves the connection there.
 */
export class Relay implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly pool: UpstreamPool;
  private readonly clients = new Set<ClientConnection>();
  private sweeper: NodeJS.Timeout | undefined;
  private drainTimer: NodeJS.Timeout | undefined;
  private isClosing = false;
  private readonly clock = { nowMs: performance.now() };

  constructor(private readonly deps: RelayDeps) {
    const { connectTimeoutMs } = deps;
    this.pool = new UpstreamPool(deps.upstream, connectTimeoutMs === undefined ? {} : { connectTimeoutMs });
  }

  /** How many requests wait for a connection to the upstream. */
  get waitingCount(): number {
    return this.pool.waitingCount;
  }

  /** Takes the new connections of a server. */
  attach(server: Server): void {
    const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
    // Node's server accepts any duplex stream. Source: https://nodejs.org/api/http.html#event-connection
    const handOver = (connection: Duplex) => {
      for (const listener of listeners) listener.call(server, connection as Socket);
    };
    const { deps } = this;
    const connectionDeps: ClientConnectionDeps = {
      pool: this.pool,
      clock: this.clock,
      onAnswer: deps.onAnswer,
      onUnauthorized: (head) => this.forgetToken(head),
      plan: (head, peer) => deps.plan.of(head, peer),
      trusts: (address) => deps.addresses.trusts(address),
      handOver,
      onClose: (connection) => void this.clients.delete(connection),
      onFailure: (error, target) => this.logFailure(error, target),
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

  /** Closes idle connections, and the others after their response or the drain timeout. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    for (const client of this.clients) if (client.isIdle) client.destroy();
    this.drainTimer ??= setTimeout(() => {
      for (const client of this.clients) client.destroy();
    }, DRAIN_TIMEOUT_MS);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.drainTimer);
    clearInterval(this.sweeper);
    this.pool.close();
  }

  private sweep(): void {
    const nowMs = (this.clock.nowMs = performance.now());
    for (const client of this.clients) client.check(nowMs);
    this.pool.sweep(nowMs);
  }

  private logFailure(error: MatrixError, target: string): void {
    // Too many requests wait already. A line for each would serve an attacker.
    if (error.status === 503) return;
    this.deps.log.warn({ err: error, path: withoutSecrets(target) }, 'the upstream failed');
  }

  private forgetToken({ target, headers }: RequestHead): void {
    const mark = target.indexOf('?');
    try {
      const token = accessTokenIn(headers.entries(), parseQuery(mark < 0 ? '' : target.slice(mark + 1)));
      if (token !== undefined) this.deps.identity.forget(token);
    } catch {
      // A request with two different tokens: neither of them is cached.
    }
  }
}

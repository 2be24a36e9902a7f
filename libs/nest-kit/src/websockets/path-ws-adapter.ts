import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { INestApplicationContext } from '@nestjs/common';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { EMPTY, type Observable } from 'rxjs';
import { type WebSocket, WebSocketServer } from 'ws';
import { ShuttingDownError } from '../http/edge-adapter.js';

/** Throws when a socket must not be opened; `refuse` answers with the error. */
export type UpgradeGuard = (request: IncomingMessage) => void | Promise<void>;

/** Writes the HTTP response to a refused upgrade. `error` is undefined for a path without a gateway. */
export type UpgradeRefusal = (error: unknown, request: IncomingMessage, socket: Duplex) => void;

/** An upgrade whose WebSocket handshake is not valid. */
export class BadHandshakeError extends Error {
  override readonly name = 'BadHandshakeError';
  readonly statusCode = 400;

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

interface Route {
  readonly pattern: RegExp;
  readonly server: WebSocketServer;
}

export interface PathWsOptions {
  readonly guard: UpgradeGuard;
  readonly refuse: UpgradeRefusal;
  /** Largest message from a client, in bytes. */
  readonly maxPayload: number;
}

/**
 * WebSocket gateways under paths with parameters, such as `@WebSocketGateway({ path: '/api/vnc/:ns/:name' })`. Nest's
 * own WsAdapter compares whole paths only. A gateway gets the raw socket and the request; there is no message routing.
 */
export class PathWsAdapter extends AbstractWsAdapter {
  private readonly routes: Route[] = [];
  private listening = false;
  private isClosed = false;

  constructor(
    app: INestApplicationContext,
    private readonly options: PathWsOptions,
  ) {
    super(app);
  }

  override create(_port: number, options: { path?: string } = {}): WebSocketServer {
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: this.options.maxPayload,
      perMessageDeflate: false,
      // The subprotocol names the framing; old versions of noVNC ask for `binary`.
      handleProtocols: (protocols) => (protocols.has('binary') ? 'binary' : false),
    });
    // A handshake that is not valid is refused like any other request, not with the plain text of ws.
    server.on('wsClientError', (error, socket, request) =>
      this.options.refuse(new BadHandshakeError(error), request, socket),
    );
    this.routes.push({ pattern: patternOf(options.path ?? '/'), server });
    this.listen();
    return server;
  }

  override bindClientConnect(server: WebSocketServer, callback: (...args: unknown[]) => void): void {
    server.on('connection', callback);
  }

  override bindClientDisconnect(client: WebSocket, callback: () => void): void {
    client.on('close', callback);
  }

  override bindMessageHandlers(
    _client: WebSocket,
    _handlers: unknown[],
    _process: (data: unknown) => Observable<unknown>,
  ): Observable<unknown> {
    return EMPTY;
  }

  override async close(server: WebSocketServer): Promise<void> {
    this.isClosed = true;
    for (const client of server.clients) client.close(1001, 'the service is shutting down');
    server.close();
  }

  private listen(): void {
    if (this.listening) return;
    this.listening = true;
    (this.httpServer as Server).on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      void this.upgrade(request, socket, head);
    });
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = this.routes.find(({ pattern }) => pattern.test(path));
    try {
      await this.options.guard(request);
      if (!route) return this.options.refuse(undefined, request, socket);
      if (this.isClosed) throw new ShuttingDownError();
      route.server.handleUpgrade(request, socket, head, (client) => {
        // ws closes a client that violates the protocol; an error without a listener would end the process.
        client.on('error', () => undefined);
        route.server.emit('connection', client, request);
      });
    } catch (error) {
      this.options.refuse(error, request, socket);
    }
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+')}$`);

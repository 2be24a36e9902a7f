import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, internalError } from '../api-error.js';
import type { Authenticator } from '../auth/authenticator.js';
import { attributesOf, refusalOf, type Authorizer } from '../auth/authorizer.js';
import type { Disruption } from '../faults/disruption.js';
import type { Faults } from '../faults/faults.js';
import { resetResponse } from '../faults/reset-response.js';
import { sendError, sendPathNotFound } from './responses.js';
import type { RequestCounter } from './request-counter.js';
import type { RequestContext } from './request-context.js';
import { parseRequest } from '../requests/request-info.js';
import type { ResourceRouter } from './resource-router.js';
import type { ServerPaths } from './server-paths.js';
import type { SubresourceDispatch } from './subresource-dispatch.js';

/** Long enough for a client to send its next request over the connection of a refused upgrade. */
const REFUSED_UPGRADE_MS = 250;

export interface ApiServerDeps {
  authenticator: Authenticator;
  authorizer: Authorizer;
  counter: RequestCounter;
  router: ResourceRouter;
  paths: ServerPaths;
  subresources: SubresourceDispatch;
}

/** The HTTP server: authentication, authorization and routing. It can stop and restart on the same port. */
export class ApiServer {
  private server?: Server;
  private readonly connections = new Set<Duplex>();
  private address?: { host: string; port: number };
  private faults?: Faults;

  constructor(private readonly parts: ApiServerDeps) {}

  useFaults(faults: Faults): void {
    this.faults = faults;
  }

  get port(): number {
    return this.address?.port ?? 0;
  }

  /** @param port 0: a free port */
  async listen(host: string, port: number): Promise<void> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    server.on('request', (request, response) => void this.answer(request, response));
    server.on('upgrade', (request, socket, head) => void this.upgrade(request, socket, head));
    server.on('connection', (socket) => {
      this.connections.add(socket);
      socket.on('close', () => this.connections.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => resolve());
    });
    this.server = server;
    this.address = { host, port: (server.address() as AddressInfo).port };
  }

  /** Listens again on the same port. */
  async start(): Promise<void> {
    if (this.server || !this.address) return;
    await this.listen(this.address.host, this.address.port);
  }

  /** Closes the port and every connection. */
  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of this.connections) connection.destroy();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const info = parseRequest(request);
    const context: RequestContext = { request, response, info, user: { username: '', groups: [] }, warnings: [] };
    try {
      context.user = this.parts.authenticator.authenticate(request.headers);
      const { reset } = (context.disruption = await this.admitRequest(context));
      // The delay may outlast the connection or the server; the request must then have no effect.
      if (request.socket.destroyed) return;
      if (reset === 'before') return void request.socket.resetAndDestroy();
      if (reset) resetResponse(response, request.socket, reset);
      if (info.isResource && info.resource) await this.parts.router.route(context);
      else if (!this.parts.paths.answer(context)) sendPathNotFound(context);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendError(context, asApiError(error));
    }
  }

  /** Counts the request and applies the faults. @throws ApiError */
  private async admitRequest({ info, user }: Pick<RequestContext, 'info' | 'user'>): Promise<Disruption> {
    this.parts.counter.add(info, user);
    const disruption = this.faults?.apply(info, user) ?? { delayMs: 0, webhooks: [] };
    if (disruption.delayMs > 0) await sleep(disruption.delayMs);
    const attributes = attributesOf(info, user);
    if (!this.parts.authorizer.allows(attributes)) throw refusalOf(attributes);
    for (const call of disruption.webhooks) await call();
    return disruption;
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const info = parseRequest(request);
    try {
      const user = this.parts.authenticator.authenticate(request.headers);
      const { reset } = await this.admitRequest({ info, user });
      if (socket.destroyed) return;
      if (reset) return void (socket as Socket).resetAndDestroy();
      if (await this.parts.subresources.upgrade(info, request, socket, head, user)) return;
      rejectUpgrade(socket, 404, 'Not Found', 'text/plain; charset=utf-8', '404 page not found\n');
    } catch (error) {
      const { status } = asApiError(error);
      rejectUpgrade(socket, status.code, status.reason ?? 'Error', 'application/json', JSON.stringify(status));
    }
  }
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError
    ? error
    : internalError(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/**
 * Sends a complete response without `Connection: close` and then closes the connection, as a real API server does with
 * one that it has hijacked.
 */
function rejectUpgrade(socket: Duplex, code: number, reason: string, contentType: string, body: string): void {
  const head = [
    `HTTP/1.1 ${code} ${reason}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that has kept the connection meets a reset with its next request.
  socket.once('data', () => socket.destroy()).resume();
  const closing = setTimeout(() => socket.destroy(), REFUSED_UPGRADE_MS).unref();
  socket.once('close', () => clearTimeout(closing));
}

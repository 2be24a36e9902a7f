import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, internalError } from '../api-error.js';
import type { Authenticator } from '../auth/authenticator.js';
import { attributesOf, refusalOf, type Authorizer } from '../auth/authorizer.js';
import type { Faults } from '../faults/faults.js';
import { sendError, sendPathNotFound } from './responses.js';
import type { RequestCounter } from './request-counter.js';
import type { RequestContext } from './request-context.js';
import { parseRequest } from './request-info.js';
import type { ResourceRouter } from './resource-router.js';
import type { ServerPaths } from './server-paths.js';
import type { SubresourceDispatch } from './subresource-dispatch.js';

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
      await this.admitRequest(context);
      // The delay may outlast the connection or the server; the request must then have no effect.
      if (request.socket.destroyed) return;
      if (info.isResource && info.resource) await this.parts.router.route(context);
      else if (!this.parts.paths.answer(context)) sendPathNotFound(context);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendError(context, asApiError(error));
    }
  }

  /** Counts the request and applies the faults. @throws ApiError */
  private async admitRequest({ info, user }: Pick<RequestContext, 'info' | 'user'>): Promise<void> {
    this.parts.counter.add(info, user);
    const delayMs = this.faults?.apply(info, user) ?? 0;
    if (delayMs > 0) await sleep(delayMs);
    const attributes = attributesOf(info, user);
    if (!this.parts.authorizer.allows(attributes)) throw refusalOf(attributes);
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const info = parseRequest(request);
    try {
      const user = this.parts.authenticator.authenticate(request.headers);
      await this.admitRequest({ info, user });
      if (socket.destroyed) return;
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

function rejectUpgrade(socket: Duplex, code: number, reason: string, contentType: string, body: string): void {
  const head = [
    `HTTP/1.1 ${code} ${reason}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

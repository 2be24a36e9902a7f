import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerOptions } from 'node:http';
import type { ServerOptions as TlsServerOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface EdgeLimits {
  /** Largest request body, in bytes. */
  readonly bodyBytes: number;
  /** Time that a client has for its headers and for a whole request, in milliseconds; 0 is no limit. */
  readonly requestMs: number;
  /**
   * Longest path parameter, in characters. Fastify's default of 100 is less than a percent-encoded Matrix identifier.
   */
  readonly parameterLength: number;
  /** The response to a request that the server itself refuses, such as a path that is not validly encoded. */
  readonly refuse: (error: Error) => RawAnswer;
  /** Whether the application has begun to shut down. The server itself begins later, when it stops to listen. */
  readonly isShuttingDown?: () => boolean;
  /** The certificate and the key, both as PEM, of a server that speaks TLS only. */
  readonly tls?: CertificateAndKey | undefined;
}

export interface CertificateAndKey {
  readonly cert: string;
  readonly key: string;
}

/** A request that came during the shutdown. */
export class ShuttingDownError extends Error {
  override readonly name = 'ShuttingDownError';
  readonly statusCode = 503;

  constructor() {
    super('The service is shutting down; try again in a moment.');
  }
}

/** A request ID of a proxy is accepted when it is short and can't break a log line. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Fastify as both applications run it: with limits, without logging of its own, and with an ID on each request. */
export function edgeAdapter(limits: EdgeLimits): FastifyAdapter {
  const { bodyBytes, requestMs, parameterLength, refuse, isShuttingDown = () => false, tls } = limits;
  const server = {
    // Without a Host the server itself would answer, without a body.
    requireHostHeader: false,
    // HTTP lets a server ignore an upgrade that it does not support; clients such as Java's offer h2c with every
    // request.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  } as ServerOptions;
  const adapter = new FastifyAdapter({
    bodyLimit: bodyBytes,
    requestTimeout: requestMs,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: parameterLength },
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      answer(request, reply, refuse(error)),
    // Parse errors and timeouts come before any route; the server would answer them without a body.
    clientErrorHandler: (error, socket) => answerRaw(socket, refuse(error)),
    ...(tls ? { https: { ...server, ...tls, minVersion: 'TLSv1.2' } as TlsServerOptions } : { http: server }),
    logger: false,
    trustProxy: false,
    // The server's own response has no error body of the application.
    return503OnClosing: false,
  });
  const fastify = adapter.getInstance();
  let isClosing = false;
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isClosing && !isShuttingDown()) return done();
    void reply.header('connection', 'close');
    answer(request, reply, refuse(new ShuttingDownError()));
  });
  return adapter;
}

/** Answers before the hooks of the application, which add the headers of its other responses. */
function answer(request: FastifyRequest, reply: FastifyReply, { status, body }: RawAnswer): void {
  void reply
    .status(status)
    .header('x-request-id', request.id)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

export interface RawAnswer {
  readonly status: number;
  readonly body: object;
}

/** Answers on a socket that has no response object, and closes it. */
export function answerRaw(socket: Duplex, { status, body }: RawAnswer): void {
  if (!socket.writable) return void socket.destroy();
  const json = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

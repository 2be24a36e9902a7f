import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { METRICS_PATH } from '../metrics/metrics.controller.js';
import { refuseClient } from './client-error.js';
import { MATRIX_ROUTE } from './matrix.controller.js';

/** How long a client may take to send a request. A large upload over a slow line takes less. */
const REQUEST_TIMEOUT_MS = 30 * 60 * 1000;

export interface MatrixAdapterOptions {
  /** Whether a request may switch protocols; otherwise its `Upgrade` header is ignored. */
  mayUpgrade?: (request: IncomingMessage) => boolean;
  /** Whether the metrics are on this listener. */
  hasMetrics?: boolean;
  /** Resolves when the connections that are not of the listener are closed. */
  drained?: () => Promise<void>;
}

/**
 * Fastify as a bare HTTP server. Its router would decode, limit and refuse paths by its own rules and in its own
 * format, so it sees one path only. Its parsers would refuse bodies by their Content-Type, so it has none.
 */
export function matrixAdapter({
  mayUpgrade = () => false,
  hasMetrics = true,
  drained = () => Promise.resolve(),
}: MatrixAdapterOptions = {}): FastifyAdapter {
  const adapter = new FastifyAdapter({
    http: { shouldUpgradeCallback: mayUpgrade },
    rewriteUrl: (request: IncomingMessage) => routeOf(request, hasMetrics),
    clientErrorHandler: refuseClient,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    logger: false,
    trustProxy: false,
  });
  const close = adapter.close.bind(adapter);
  adapter.close = async () => {
    await drained();
    return close();
  };
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
  leaveExpectationsToHandlers(fastify.server);
  // The size of the headers is limited. Beyond a count, Node would drop the rest, including those a proxy has added.
  fastify.server.maxHeadersCount = 0;
  return adapter;
}

export const isMetricsRequest = ({ url, method }: { url?: string | undefined; method?: string | undefined }): boolean =>
  method === 'GET' && url !== undefined && (url === METRICS_PATH || url.startsWith(`${METRICS_PATH}?`));

/** Fastify refuses a Content-Type that it cannot parse, which Matrix servers accept. The raw headers still have it. */
function routeOf({ url, method, headers }: { url?: string; method?: string; headers: object }, hasMetrics: boolean) {
  if (hasMetrics && isMetricsRequest({ url, method })) return METRICS_PATH;
  Reflect.deleteProperty(headers, 'content-type');
  return MATRIX_ROUTE;
}

/**
 * Node sends `100 Continue` before any handler runs. Here, a handler sends it when it needs the body. Other
 * expectations are ignored.
 */
function leaveExpectationsToHandlers(server: Server): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response);
    });
  }
}

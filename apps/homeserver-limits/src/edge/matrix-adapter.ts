import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { METRICS_PATH } from '../metrics/metrics.controller.js';
import { refuseClient } from './client-error.js';
import { MATRIX_ROUTE } from './matrix.controller.js';

/** How long a client may take to send a request: a large upload over a slow line is well within it. */
const REQUEST_MS = 30 * 60 * 1000;

/**
 * Fastify that leaves everything to the table of operations. Its router would decode, limit and refuse paths in its own
 * way and form, so it only sees one path; its parsers would refuse bodies by their Content-Type, so there are none.
 * @param mayUpgrade whether a request that asks for another protocol gets it; else it is answered like any other
 */
export function matrixAdapter(mayUpgrade: (request: IncomingMessage) => boolean = () => false): FastifyAdapter {
  const adapter = new FastifyAdapter({
    http: { shouldUpgradeCallback: mayUpgrade },
    rewriteUrl: routeOf,
    clientErrorHandler: refuseClient,
    requestTimeout: REQUEST_MS,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    logger: false,
    trustProxy: false,
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
  letHandlersDecideAboutBodies(fastify.server);
  // Their bytes are bounded. Beyond a number of them Node would drop the rest, with what a proxy has written there.
  fastify.server.maxHeadersCount = 0;
  return adapter;
}

/** Fastify refuses a Content-Type that it cannot read, where Matrix servers do not care; it is still in the raw headers. */
function routeOf({ url, method, headers }: { url?: string; method?: string; headers: object }): string {
  if (method === 'GET' && url?.split('?', 1)[0] === METRICS_PATH) return METRICS_PATH;
  Reflect.deleteProperty(headers, 'content-type');
  return MATRIX_ROUTE;
}

/**
 * Node asks clients for the body by itself before anybody has looked at the request; here the handler does, if it wants it.
 * What else a client may expect is no reason to refuse it.
 */
function letHandlersDecideAboutBodies(server: Server): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response);
    });
  }
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface EdgeLimits {
  /** Largest request body, in bytes. */
  readonly bodyBytes: number;
  /** Time that a client has for its headers and for a whole request, in milliseconds; 0 is no limit. */
  readonly requestMs: number;
  /** Longest path parameter, in characters. Fastify's default of 100 is less than a percent-encoded Matrix identifier. */
  readonly parameterLength: number;
  /** The response to a request that the server itself refuses, such as a path that is not validly encoded. */
  readonly refuse: (error: Error) => { readonly status: number; readonly body: object };
}

/** A request ID of a proxy is accepted when it is short and can't break a log line. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Fastify as both applications run it: with limits, without logging of its own, and with an ID on each request. */
export const edgeAdapter = ({ bodyBytes, requestMs, parameterLength, refuse }: EdgeLimits): FastifyAdapter =>
  new FastifyAdapter({
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
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const { status, body } = refuse(error);
      void reply
        .status(status)
        .header('x-request-id', request.id)
        .header('content-type', 'application/json; charset=utf-8')
        .send(JSON.stringify(body));
    },
    logger: false,
    trustProxy: false,
    return503OnClosing: true,
  });

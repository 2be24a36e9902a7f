import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DomainError } from '@headgate/domain-contracts';
import { answerRaw } from '@headgate/nest-kit';
import { errorBody } from './domain-error.filter.js';

/** More parameters than any query of the API has. */
const MAX_PARAMETERS = 50;

/** Gives the error body of the API to requests that are refused before a route is found. */
export function refuseEarly(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, _reply, done) => done(problemOf(request.raw)));
  const server = fastify.server as Server;
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, body } = errorBody(
      new DomainError('EXPECTATION_FAILED', 'The only supported expectation is 100-continue.'),
    );
    const json = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
      connection: 'close',
    });
    response.end(json);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    answerRaw(socket, errorBody(new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.'))),
  );
}

function problemOf({ headers, url = '/' }: IncomingMessage): DomainError | undefined {
  if (!headers.host) return new DomainError('INVALID_INPUT', 'The Host header is missing.');
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  if (!isDecodable(query)) return new DomainError('INVALID_INPUT', 'The query is not validly percent-encoded UTF-8.');
  if (query.split('&').length > MAX_PARAMETERS)
    return new DomainError('INVALID_INPUT', `The query must not have more than ${MAX_PARAMETERS} parameters.`);
  return undefined;
}

/** Bytes beyond ASCII must be percent-encoded in a URL. */
function isDecodable(query: string): boolean {
  if (/[^\x21-\x7e]/.test(query)) return false;
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { CallerIdentity } from '../identity/caller-identity.js';
import { REPLAYED_HEADER } from '../idempotency/idempotency.interceptor.js';
import { knownCallerOf } from '../platform/caller.decorator.js';
import { refusalOf } from '../platform/refused-request.js';
import { Readiness } from '../platform/readiness.js';
import { RequestRecorder, type RecordedRequest } from './request-recorder.js';

/** Gives every finished request with a route to the recorder. */
export function recordRequests(app: NestFastifyApplication, log: Logger): void {
  const recorder = app.get(RequestRecorder);
  const identity = app.get(CallerIdentity);
  const readiness = app.get(Readiness);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onResponse', (request, reply, done) => {
      try {
        // The registry, which has the journal, is not open at the start and at the end.
        // A replay changes nothing, and its first request has an entry.
        if (readiness.isReady && !reply.hasHeader(REPLAYED_HEADER))
          recorder.record(describe(request, reply.raw.statusCode, identity));
      } catch (error) {
        log.error({ err: error, requestId: request.id }, 'the journal entry of a request could not be written');
      }
      done();
    });
}

function describe(request: FastifyRequest, status: number, identity: CallerIdentity): RecordedRequest {
  const caller = knownCallerOf(request);
  const query = (request.query ?? {}) as Record<string, unknown>;
  return {
    method: request.method,
    route: request.routeOptions.url ?? '',
    status,
    address: caller?.origin?.address ?? identity.addressOf(request.raw),
    parameters: request.params as Record<string, unknown>,
    isDryRun: query['dryRun'] === 'true',
    ...(caller ? { caller } : {}),
    ...refusalOf(request),
  };
}

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusalOf } from '../platform/refused-request.js';
import { claimedBy } from './idempotency.interceptor.js';
import { isFinal } from './is-final.js';
import { KeyedRequests } from './keyed-requests.js';
import type { AnswerContent } from './sealed-answer.js';

/** The headers that belong to an answer. The others are those of each response, such as its ID. */
const KEPT_HEADERS: readonly string[] = ['content-type', 'location', 'etag', 'svc-partial'];

/** Stores the answer to each request with an idempotency key before its first byte is sent. */
export function keepAnswers(app: NestFastifyApplication): void {
  const requests = app.get(KeyedRequests, { strict: false });
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
      const keyed = claimedBy(request);
      if (!keyed) return payload;
      const status = reply.statusCode;
      if (isFinal(status, refusalOf(request)?.code)) await requests.keep(keyed, status, contentOf(reply, payload));
      else await requests.release(keyed);
      return payload;
    });
}

/** @returns undefined for a stream, which is not kept */
function contentOf(reply: FastifyReply, payload: unknown): AnswerContent | undefined {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return undefined;
  const headers = KEPT_HEADERS.flatMap((name) =>
    reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [],
  );
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: payload.toString() };
}

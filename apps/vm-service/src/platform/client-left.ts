import type { FastifyReply } from 'fastify';

/** Aborts when the connection of a reply has closed. */
export function clientLeft({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort(new Error('The client has left.')));
  return left.signal;
}

import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Sends a body whose pieces other requests send too, without joining them. */
export function sendPieces(reply: FastifyReply, pieces: readonly Buffer[]): void {
  reply.hijack();
  const { raw } = reply;
  const length = pieces.reduce((sum, { length }) => sum + length, 0);
  raw.writeHead(reply.statusCode, { ...(reply.getHeaders() as OutgoingHttpHeaders), 'content-length': length });
  raw.cork();
  for (const piece of pieces) raw.write(piece);
  raw.end();
  raw.uncork();
}

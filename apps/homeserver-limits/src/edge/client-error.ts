import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, corsHeaders } from '@headgate/homeserver-contracts';
import { errorResponse } from '../errors/error-response.js';

const NOT_HTTP = new MatrixError(400, 'M_UNKNOWN', 'The request is not valid HTTP.');
const REFUSALS: Readonly<Record<string, MatrixError>> = {
  HPE_HEADER_OVERFLOW: new MatrixError(431, 'M_TOO_LARGE', 'The headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new MatrixError(408, 'M_UNKNOWN', 'The request took too long to arrive.'),
};

/** Refuses bytes that did not parse as a request, in the form of every other refusal, and closes the connection. */
export function refuseClient(error: { code?: string }, socket: Socket): void {
  // A refusal written while a response is being sent would end up in the middle of it.
  const isResponding = (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent;
  if (error.code !== 'ECONNRESET' && socket.writable && !isResponding) {
    socket.write(serialize(errorResponse(REFUSALS[error.code ?? ''] ?? NOT_HTTP)));
  }
  socket.destroy();
}

function serialize({ status, headers, body }: MatrixResponse): string {
  const text = body.toString();
  const all = [...headers, ...corsHeaders, 'Content-Length', String(Buffer.byteLength(text)), 'Connection', 'close'];
  const lines = all.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : []));
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n');
}

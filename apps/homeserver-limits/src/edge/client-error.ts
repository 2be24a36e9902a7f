import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MatrixError } from '@headgate/matrix-protocol';
import { errorResponse } from '../errors/error-response.js';
import { serializeResponse } from '../errors/serialize-response.js';

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
    socket.write(serializeResponse(errorResponse(REFUSALS[error.code ?? ''] ?? NOT_HTTP)));
  }
  socket.destroy();
}

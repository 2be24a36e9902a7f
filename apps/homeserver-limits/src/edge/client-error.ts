import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MatrixError } from '@headgate/matrix-protocol';
import { type Answer, corsHeaders } from '../wire/answer.js';
import { errorAnswer } from '../wire/error-answer.js';

const NOT_HTTP = new MatrixError(400, 'M_UNKNOWN', 'This is no request that can be read.');
const REFUSALS: Readonly<Record<string, MatrixError>> = {
  HPE_HEADER_OVERFLOW: new MatrixError(431, 'M_TOO_LARGE', 'The headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new MatrixError(408, 'M_UNKNOWN', 'The request took too long to arrive.'),
};

/** Answers what never became a request in the form of every other refusal, and hangs up. */
export function refuseClient(error: { code?: string }, socket: Socket): void {
  // Bytes that come while an answer is on its way would end up in the middle of it.
  const answering = (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent;
  if (error.code !== 'ECONNRESET' && socket.writable && !answering) {
    socket.write(onTheWire(errorAnswer(REFUSALS[error.code ?? ''] ?? NOT_HTTP)));
  }
  socket.destroy();
}

function onTheWire({ status, headers, body }: Answer): string {
  const text = body.toString();
  const all = [...headers, ...corsHeaders, 'Content-Length', String(Buffer.byteLength(text)), 'Connection', 'close'];
  const lines = all.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : []));
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n');
}

import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { errorBody } from '../platform/domain-error.filter.js';

/** Answers a refused upgrade with the error body of the API. */
export function refuseUpgrade(error: unknown, _request: IncomingMessage, socket: Duplex): void {
  const { status, body } = errorBody(error ?? new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.'));
  const json = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

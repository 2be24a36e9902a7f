import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { answerRaw } from '@headgate/nest-kit';
import { BadHandshakeError } from '@headgate/nest-kit/websockets';
import { errorBody } from '../platform/domain-error.filter.js';

/** Answers a refused upgrade with the error body of the API. */
export function refuseUpgrade(error: unknown, _request: IncomingMessage, socket: Duplex): void {
  answerRaw(socket, errorBody(refusalOf(error)));
}

function refusalOf(error: unknown): unknown {
  if (error === undefined) return new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.');
  if (error instanceof BadHandshakeError)
    return new DomainError('INVALID_INPUT', `The WebSocket handshake is not valid: ${error.message}.`, {
      cause: error,
    });
  return error;
}

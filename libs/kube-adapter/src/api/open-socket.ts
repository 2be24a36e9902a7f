import type { IncomingMessage } from 'node:http';
import type { Clock } from '@headgate/domain-contracts';
import { WebSocket } from 'ws';
import { afterRunning } from './after-running.js';
import type { Endpoint } from './kube-credentials.js';

export interface SocketRequest {
  readonly path: string;
  readonly protocols: readonly string[];
  /** With its question mark, or empty. */
  readonly query: string;
  readonly timeoutMs: number;
  /** The error to fail with when the socket does not open in time. */
  readonly onTimeout: () => Error;
  /** The error to fail with when the server refuses the upgrade. */
  readonly onRefusal: (response: IncomingMessage) => Promise<Error>;
}

/** Opens a WebSocket and pauses it, so that early data is not lost before a reader is attached. */
export function openSocket({ url, unpooled }: Endpoint, clock: Clock, request: SocketRequest): Promise<WebSocket> {
  const address = new URL(url);
  address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  address.pathname = `${url.pathname.replace(/\/$/, '')}${request.path}`;
  address.search = request.query;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, [...request.protocols], { ...unpooled, perMessageDeflate: false } as never);
    const cancel = afterRunning(clock, request.timeoutMs, () => {
      reject(request.onTimeout());
      socket.terminate();
    });
    const onError = (error: unknown): void => {
      cancel();
      reject(error);
    };
    socket.once('open', () => {
      cancel();
      socket.pause();
      resolve(socket);
    });
    // Stays attached: a later error is reported by the close event, and without a listener it would end the process.
    socket.on('error', onError);
    socket.once('unexpected-response', (_request, response) => {
      cancel();
      // The API server closes this connection without announcing it, so the agent of a proxy must not keep it either.
      const { socket: connection } = response;
      response.once('end', () => connection.destroy());
      request.onRefusal(response).then(reject, reject);
    });
  });
}

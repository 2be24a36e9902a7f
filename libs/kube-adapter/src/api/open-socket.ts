import type { IncomingMessage } from 'node:http';
import type { Clock } from '@headgate/domain-contracts';
import { WebSocket } from 'ws';
import type { Endpoint } from './kube-credentials.js';

export interface SocketRequest {
  readonly path: string;
  readonly protocols: readonly string[];
  /** With its question mark, or empty. */
  readonly query: string;
  readonly timeoutMs: number;
  /** What it fails with when it does not open in time. */
  readonly onTimeout: () => Error;
  /** What it fails with when the server answers instead of opening it. */
  readonly onRefusal: (response: IncomingMessage) => Promise<Error>;
}

/** Opens a WebSocket, and pauses it: what the other side sends at once has to wait for whoever is going to read it. */
export function openSocket({ url, options }: Endpoint, clock: Clock, sent: SocketRequest): Promise<WebSocket> {
  const address = new URL(url);
  address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  address.pathname = `${url.pathname.replace(/\/$/, '')}${sent.path}`;
  address.search = sent.query;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, [...sent.protocols], { ...options, perMessageDeflate: false } as never);
    const cancel = clock.after(sent.timeoutMs, () => {
      reject(sent.onTimeout());
      socket.terminate();
    });
    const failed = (error: unknown): void => {
      cancel();
      reject(error);
    };
    socket.once('open', () => {
      cancel();
      socket.pause();
      resolve(socket);
    });
    // It stays there: what breaks later is told by the close, and must not end the process meanwhile.
    socket.on('error', failed);
    socket.once('unexpected-response', (_request, response) => {
      cancel();
      sent.onRefusal(response).then(reject, reject);
    });
  });
}

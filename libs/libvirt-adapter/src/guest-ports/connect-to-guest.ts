import { connect, type Socket } from 'node:net';
import { DomainError, type Clock } from '@headgate/domain-contracts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface GuestTarget {
  /** The name of the guest, for messages. */
  readonly name: string;
  /** An IP address: a name would be resolved by a server that others control. */
  readonly address: string;
  readonly port: number;
}

/**
 * A TCP connection whose directions end on their own, paused.
 * @throws DomainError WRONG_STATE when it is refused, BACKEND_TIMEOUT when the guest does not answer
 */
export function connectToGuest(clock: Clock, { name, address, port }: GuestTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true, allowHalfOpen: true });
    const fail = (error: DomainError): void => {
      cancelTimeout();
      socket.destroy();
      reject(error);
    };
    const failed = (cause: NodeJS.ErrnoException): void => fail(translate(cause));
    const cancelTimeout = clock.after(CONNECT_TIMEOUT_MS, () =>
      fail(new DomainError('BACKEND_TIMEOUT', `${name} does not answer at port ${port}.`)),
    );
    const translate = (cause: NodeJS.ErrnoException): DomainError =>
      cause.code === 'ECONNREFUSED'
        ? new DomainError('WRONG_STATE', `No program of ${name} accepts connections at port ${port}.`, { cause })
        : new DomainError('BACKEND_TIMEOUT', `${name} does not answer at port ${port} (${cause.code ?? ''}).`, {
            cause,
          });
    socket.once('error', failed);
    socket.once('connect', () => {
      cancelTimeout();
      socket.removeListener('error', failed);
      // Without a listener, a reset before the connection has its reader would end the process.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

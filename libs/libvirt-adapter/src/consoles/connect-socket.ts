import { connect, type NetConnectOpts } from 'node:net';
import { DomainError, type ConsoleStream } from '@headgate/domain-contracts';
import { ReadBuffers } from './read-buffers.js';

const CONNECT_TIMEOUT_MS = 5000;

/**
 * Connects to a console socket of a running VM.
 * @throws DomainError BACKEND_FORBIDDEN, BACKEND_FAILED, BACKEND_TIMEOUT
 */
export function connectSocket(target: { path: string } | { host: string; port: number }): Promise<ConsoleStream> {
  return new Promise((resolve, reject) => {
    const buffers = new ReadBuffers();
    const onread = {
      buffer: () => buffers.next(),
      callback: (length: number): boolean => socket.push(buffers.take(length)),
    };
    const socket = connect({ ...target, noDelay: true, onread } as NetConnectOpts);
    const fail = (error: DomainError): void => {
      socket.destroy();
      reject(error);
    };
    const failed = (error: NodeJS.ErrnoException): void => fail(translate(error));
    socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
      fail(new DomainError('BACKEND_TIMEOUT', "The VM's console did not answer in time.")),
    );
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.removeListener('error', failed);
      resolve(Object.assign(socket, { recycle: (data: Buffer) => buffers.recycle(data) }));
    });
  });
}

function translate(error: NodeJS.ErrnoException): DomainError {
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new DomainError(
      'BACKEND_FORBIDDEN',
      "The service may not open the VM's console: add its user to QEMU's group (libvirt-qemu, kvm or qemu) and restart it.",
      { cause: error },
    );
  }
  return new DomainError('BACKEND_FAILED', `The VM's console can't be opened (${error.code ?? error.message}).`, {
    cause: error,
  });
}

import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { RpcConnectionError } from '../errors.js';
import type { UnixTarget } from '../libvirt-target.js';

/** @throws RpcConnectionError `unreachable` or `forbidden`, with the message that virsh prints for it */
export async function connectUnixSocket({ sockets }: UnixTarget, signal?: AbortSignal): Promise<Duplex> {
  const path = await firstExisting(sockets);
  return new Promise((resolve, reject) => {
    const socket = connect({ path, signal });
    const onError = (cause: NodeJS.ErrnoException): void => reject(toConnectionError(path, cause));
    socket.once('error', onError);
    socket.once('connect', () => {
      socket.off('error', onError);
      resolve(socket);
    });
  });
}

async function firstExisting(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) return path;
  }
  return paths.at(-1) ?? '';
}

function toConnectionError(path: string, cause: NodeJS.ErrnoException): RpcConnectionError {
  const isForbidden = cause.code === 'EACCES' || cause.code === 'EPERM';
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'Permission denied',
    EPERM: 'Operation not permitted',
    ENOENT: 'No such file or directory',
    ECONNREFUSED: 'Connection refused',
  };
  const reason = reasons[cause.code ?? ''] ?? cause.message;
  return new RpcConnectionError(
    isForbidden ? 'forbidden' : 'unreachable',
    `Failed to connect socket to '${path}': ${reason}`,
    { cause },
  );
}

import { connect } from 'node:net';

/** Sockets on which the system's virtlogd listens. libvirtd starts the one of a user session on demand. */
const SYSTEM_SOCKETS = ['/run/libvirt/virtlogd-sock', '/var/run/libvirt/virtlogd-sock'];

/** Whether virtlogd accepts connections, or will be started on demand. */
export async function isVirtlogdListening(uri: string): Promise<boolean> {
  if (!/\/system(?:\?|$)/.test(uri)) return true;
  for (const socket of SYSTEM_SOCKETS) if (await isListening(socket)) return true;
  return false;
}

/** A socket that refuses this user is still listening. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (isUp: boolean) => (): void => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once('connect', settle(true));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code === 'EACCES')());
  });
}

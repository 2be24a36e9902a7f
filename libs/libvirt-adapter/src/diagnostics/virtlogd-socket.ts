import { connect } from 'node:net';

/** Where virtlogd listens for libvirtd. A session's own is started by libvirtd when it is needed. */
const SYSTEM_SOCKETS = ['/run/libvirt/virtlogd-sock', '/var/run/libvirt/virtlogd-sock'];

/** Whether the log daemon answers, or answers when it is needed. */
export async function answersVirtlogd(uri: string): Promise<boolean> {
  if (!/\/system(?:\?|$)/.test(uri)) return true;
  for (const socket of SYSTEM_SOCKETS) if (await isListening(socket)) return true;
  return false;
}

/** One that may not be asked is there all the same. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (is: boolean) => (): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', answer(true));
    socket.once('error', (error: NodeJS.ErrnoException) => answer(error.code === 'EACCES')());
  });
}

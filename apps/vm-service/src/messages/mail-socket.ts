import { connect, isIP, type Socket } from 'node:net';
import type { MailTarget } from '@headgate/domain-contracts';
import type { EgressPolicy } from '@headgate/downloads';

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1)$/;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Whether a host is this machine, where mail may be sent without encryption. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK_HOST.test(host);

/** The URL by which the policy knows a mail server. It has a port in any case. */
export const urlOf = ({ host, port }: Pick<MailTarget, 'host' | 'port'>): URL =>
  new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`);

/**
 * Connects to a mail server. The egress policy applies to the address of the connection, so a name that resolves
 * differently the second time gains nothing.
 * @throws Error when it is not allowed, or was not reached before the signal
 */
export function connectMail(
  target: Pick<MailTarget, 'host' | 'port' | 'security'>,
  egress: EgressPolicy,
  signal: AbortSignal,
): Promise<Socket> {
  const url = urlOf(target);
  egress.checkLiteral(url);
  return new Promise((resolve, reject) => {
    const { host, port, security } = target;
    const socket = connect({ host, port, lookup: egress.lookupFor(url), autoSelectFamily: true });
    // Also between the connection and the first listener of the protocol.
    socket.on('error', () => undefined);
    const abort = (): void => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', abort));
    socket.once('error', reject);
    socket.once('connect', () => {
      // The name of the host may lead elsewhere by now.
      if (security === 'none' && !LOOPBACK.test(socket.remoteAddress ?? '')) {
        socket.destroy();
        return reject(new Error(`${host} is not this machine, so mail is sent there with encryption only.`));
      }
      resolve(socket);
    });
    if (signal.aborted) abort();
  });
}

import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from 'node:tls';
import { RpcConnectionError } from '../errors.js';
import type { TlsTarget } from '../libvirt-target.js';
import { readCertificates, type CertificateFolders } from './certificates.js';

/** The daemon sends it once it has accepted the certificate and the address of the client. */
const ACCEPTED = 1;

/**
 * A connection to a daemon that listens with TLS. Both sides prove who they are with certificates.
 * @param folders replaces the folders of the certificates in tests
 * @throws RpcConnectionError `unreachable` with a message that begins with `TLS: `
 */
export async function connectOverTls(
  { host, port, pkiPath, skipCertificateCheck }: TlsTarget,
  signal?: AbortSignal,
  folders: CertificateFolders = {},
): Promise<Duplex> {
  const certificates = await readCertificates({ ...folders, ...(pkiPath !== undefined && { pkiPath }) });
  const socket = open({
    host,
    port,
    ...certificates,
    checkServerIdentity: checkIdentity,
    rejectUnauthorized: !skipCertificateCheck,
  });
  const abort = (): void => void socket.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    await once(socket, 'secureConnect');
    await awaitConsent(socket);
    socket.setNoDelay();
    return socket;
  } catch (cause) {
    socket.destroy();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RpcConnectionError('unreachable', `TLS: ${host}:${port}: ${reason}`, { cause });
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** As libvirt's client: the common name of an old certificate without other names may also be an IP address. */
const checkIdentity = (host: string, certificate: PeerCertificate): Error | undefined =>
  certificate.subjectaltname === undefined && certificate.subject.CN === host
    ? undefined
    : checkServerIdentity(host, certificate);

/** @throws RpcConnectionError for certificates that can't be parsed */
function open(options: ConnectionOptions): TLSSocket {
  try {
    return connect(options);
  } catch (cause) {
    throw new RpcConnectionError('unreachable', `TLS: the certificates for ${options.host} are damaged`, { cause });
  }
}

/** The daemon checks the client after the handshake, and closes the connection if it refuses it. */
function awaitConsent(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (refusal?: Error): void => {
      socket.off('readable', onReadable).off('error', settle).off('close', onClose);
      if (refusal) reject(refusal);
      else resolve();
    };
    const refused = (): Error => new Error('libvirt refuses the certificate or the address of this machine');
    const onClose = (): void => settle(refused());
    const onReadable = (): void => {
      // The bytes after it are left for the reader of the connection.
      const byte = socket.read(1) as Buffer | null;
      if (byte) settle(byte[0] === ACCEPTED ? undefined : refused());
    };
    socket.on('readable', onReadable).on('error', settle).on('close', onClose);
  });
}

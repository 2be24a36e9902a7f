import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export const TRANSPORTS = ['udp', 'tcp', 'tls'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface SyslogServer {
  readonly host: string;
  readonly port: number;
  readonly transport: Transport;
  /** TLS: the certificates of the authority in PEM; by default those of the system. */
  readonly ca?: string;
}

/** A connection to a server, which sends nothing back. */
export interface SyslogConnection {
  /** Resolves when the kernel has taken the messages. @throws Error when the connection has ended */
  send(messages: readonly string[]): Promise<void>;
  /** Aborts when the connection ends. */
  readonly ended: AbortSignal;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A server that reads nothing for so long is treated as lost. */
const SEND_TIMEOUT_MS = 30_000;

/** @throws Error when there is no connection in time, the certificate is not trusted, or the signal aborts */
export const connectSyslog = (server: SyslogServer, signal: AbortSignal): Promise<SyslogConnection> =>
  server.transport === 'udp' ? connectUdp(server) : connectStream(server, signal);

/** One datagram per message. Source: RFC 5426. */
async function connectUdp({ host, port }: SyslogServer): Promise<SyslogConnection> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const ended = new AbortController();
  // A server that does not listen is reported by the kernel with the next datagram.
  socket.on('error', (error) => ended.abort(error));
  const close = (): void => {
    if (!ended.signal.aborted) ended.abort(new Error('closed'));
    socket.close();
  };
  socket.unref();
  try {
    socket.connect(port, host);
    await once(socket, 'connect');
  } catch (error) {
    socket.close();
    throw error;
  }
  return {
    ended: ended.signal,
    close,
    send: async (messages) => {
      for (const message of messages) {
        ended.signal.throwIfAborted();
        await new Promise<void>((resolve) =>
          socket.send(message, (error) => {
            // Also when nothing listened for an earlier one.
            if (error) ended.abort(error);
            resolve();
          }),
        );
      }
      ended.signal.throwIfAborted();
    },
  };
}

/** Messages with their length in bytes before them. Source: RFC 6587, 3.4.1, and RFC 5425, 4.3. */
async function connectStream(
  { host, port, transport, ca }: SyslogServer,
  signal: AbortSignal,
): Promise<SyslogConnection> {
  const socket: Socket =
    transport === 'tcp'
      ? connectTcp({ host, port })
      : connectTls({
          host,
          port,
          ...(isAddress(host) ? {} : { servername: host }),
          // Also where NODE_TLS_REJECT_UNAUTHORIZED turns the check off.
          rejectUnauthorized: true,
          minVersion: 'TLSv1.2',
          ...(ca === undefined ? {} : { ca }),
        });
  socket.unref();
  const ended = new AbortController();
  socket.on('error', (error) => ended.abort(error));
  socket.once('close', () => ended.abort(new Error('The server has closed the connection.')));
  // A server that has ended its side reads no more.
  socket.once('end', () => ended.abort(new Error('The server has closed the connection.')));
  socket.resume();
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('The server does not answer in time.')));
  const cancel = (): void => void socket.destroy();
  signal.addEventListener('abort', cancel);
  await untilEnded(once(socket, transport === 'tcp' ? 'connect' : 'secureConnect'), ended.signal).finally(() =>
    signal.removeEventListener('abort', cancel),
  );
  socket.setTimeout(0);
  socket.setKeepAlive(true, SEND_TIMEOUT_MS);
  return {
    ended: ended.signal,
    close: () => socket.destroy(),
    send: async (messages) => {
      ended.signal.throwIfAborted();
      socket.setTimeout(SEND_TIMEOUT_MS, () => socket.destroy(new Error('The server reads nothing.')));
      const written = new Promise<void>((resolve, reject) =>
        socket.write(messages.map(frame).join(''), (error) => (error ? reject(error) : resolve())),
      );
      await untilEnded(written, ended.signal).finally(() => socket.setTimeout(0));
    },
  };
}

export const frame = (message: string): string => `${Buffer.byteLength(message)} ${message}`;

/** @throws the reason of the signal, if it aborts before */
async function untilEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort);
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

/** A daemon of this machine. */
export interface SocketTarget {
  readonly kind: 'socket';
  /** The path of its unix socket. */
  readonly path: string;
}

/** A daemon on the network. */
export interface HttpsTarget {
  readonly kind: 'https';
  readonly host: string;
  readonly port: number;
  /** SHA-256 of the certificate of the server, 64 hexadecimal digits. Absent: an authority has signed it. */
  readonly fingerprint?: string;
  /** A token of `incus config trust add`, with which the server accepts the certificate of this service. */
  readonly trustToken?: string;
}

export type ServerTarget = SocketTarget | HttpsTarget;

const DEFAULT_PORT = 8443;

/** Names the server in messages. */
export const describeTarget = (target: ServerTarget): string =>
  target.kind === 'socket' ? target.path : `${target.host}:${target.port}`;

/** @param address such as `https://host:8443` */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? DEFAULT_PORT : Number(port) };
}

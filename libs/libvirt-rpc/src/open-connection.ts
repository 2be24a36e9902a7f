import type { Duplex } from 'node:stream';
import { ErrorNumber, LibvirtError, RpcCallError, RpcConnectionError } from './errors.js';
import type { KeepaliveOptions } from './keepalive.js';
import type { LibvirtTarget } from './libvirt-target.js';
import { parseLibvirtUri } from './libvirt-uri.js';
import { procedures } from './procedures.js';
import { RpcConnection } from './rpc-connection.js';
import { systemTimers, type Timers } from './timers.js';
import { connectToSession } from './transport/session-daemon.js';
import { connectOverSsh } from './transport/ssh.js';
import { connectOverTls } from './transport/tls.js';

export interface OpenOptions {
  readonly timers?: Timers;
  /** Pings the daemon, and lets the daemon ping. Absent for a connection that is not always read. */
  readonly keepalive?: KeepaliveOptions;
  /** The time for connecting, authentication and opening together. */
  readonly timeoutMs?: number;
  /** Replaces ssh in tests. */
  readonly sshProgram?: string;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const FEATURE_KEEPALIVE = 10;
/** `remote_auth_type`. */
const AuthType = { none: 0, sasl: 1, polkit: 2 } as const;

/**
 * Connects to a libvirt daemon, authenticates and opens its driver.
 * @throws RpcConnectionError if there is no connection
 * @throws LibvirtError if libvirt refuses to open the driver
 */
export async function openLibvirt(uri: string, options: OpenOptions = {}): Promise<RpcConnection> {
  const target = parseLibvirtUri(uri);
  const { timers = systemTimers, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const timeout = new AbortController();
  const cancelTimeout = timers.after(timeoutMs, () => timeout.abort());
  try {
    const transport = await connectTo(target, { ...options, signal: timeout.signal });
    return await openOver(transport, target.name, { ...options, signal: timeout.signal });
  } catch (error) {
    if (!timeout.signal.aborted) throw error;
    throw new RpcConnectionError('timeout', `libvirt did not respond within ${timeoutMs} ms.`, { cause: error });
  } finally {
    cancelTimeout();
  }
}

/** Authenticates and opens a driver over an established transport. */
export async function openOver(
  transport: Duplex,
  name: string,
  { timers, keepalive, signal }: OpenOptions & { readonly signal?: AbortSignal } = {},
): Promise<RpcConnection> {
  const connection = new RpcConnection(transport, timers);
  try {
    await authenticate(connection, signal);
    if (keepalive) {
      const { isSupported } = await connection.call(
        procedures.connectSupportsFeature,
        { feature: FEATURE_KEEPALIVE },
        { signal },
      );
      if (isSupported) connection.startKeepalive(keepalive);
    }
    await connection.call(procedures.connectOpen, { name, flags: 0 }, { signal });
    return connection;
  } catch (error) {
    // A connection that broke knows more than the call.
    const reason = connection.closed ?? error;
    connection.close();
    throw reason;
  }
}

/** Lets the daemon close its side first, and ends the connection. */
export async function closeConnection(connection: RpcConnection, timeoutMs = 1000): Promise<void> {
  await connection.call(procedures.connectClose, undefined, { timeoutMs }).catch(ignoreCallErrors);
  connection.close();
}

function connectTo(
  { transport, name }: LibvirtTarget,
  { signal, timers, sshProgram }: OpenOptions & { readonly signal: AbortSignal },
): Promise<Duplex> {
  if (transport.kind === 'unix') return connectToSession(transport, { signal, timers });
  if (transport.kind === 'tls') return connectOverTls(transport, signal);
  return Promise.resolve(connectOverSsh(transport, name, sshProgram));
}

async function authenticate(connection: RpcConnection, signal?: AbortSignal): Promise<void> {
  const types = await connection.call(procedures.authList, undefined, { signal });
  if (types.length === 0 || types.includes(AuthType.none)) return;
  if (!types.includes(AuthType.polkit)) {
    const requested = types.includes(AuthType.sasl)
      ? 'SASL authentication'
      : `authentication of type ${types.join(', ')}`;
    throw new RpcConnectionError(
      'unsupported',
      `libvirt requires ${requested}, which only libvirt's own client speaks.`,
    );
  }
  try {
    await connection.call(procedures.authPolkit, undefined, { signal });
  } catch (cause) {
    if (!(cause instanceof LibvirtError) || !AUTH_ERRORS.includes(cause.code)) throw cause;
    throw new RpcConnectionError('forbidden', cause.message, { cause });
  }
}

const AUTH_ERRORS: readonly number[] = [
  ErrorNumber.authFailed,
  ErrorNumber.authCanceled,
  ErrorNumber.authUnavailable,
  ErrorNumber.accessDenied,
  ErrorNumber.operationDenied,
];

function ignoreCallErrors(error: unknown): void {
  const isExpected =
    error instanceof LibvirtError || error instanceof RpcCallError || error instanceof RpcConnectionError;
  if (!isExpected) throw error;
}

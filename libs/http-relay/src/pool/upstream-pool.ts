import { connect, type Socket } from 'node:net';
import { ConnectionOpener } from './connection-opener.js';

/** The exchange that uses a connection, or waits for one. */
export interface ConnectionUser {
  /** Whether it takes no connection that has served another request, because such a one has just failed it. */
  readonly needsNewConnection: boolean;
  /** How long it waits for a connection. */
  readonly maxWaitMs: number;
  /** The connection that it has waited for. */
  onConnection(connection: UpstreamConnection): void;
  /** There is no connection for it. Nothing else follows. */
  onUnavailable(error: Error): void;
  onData(bytes: Buffer): void;
  onDrain(): void;
  /** The upstream has ended the connection, with an error or without one. Nothing else follows. */
  onClose(error?: Error): void;
  /** Called regularly, for timeouts. */
  check(nowMs: number): void;
}

const MAX_IDLE = 256;
/**
 * Many servers close idle connections after 5 s, and a request sent at that moment is lost, so ours are closed before.
 */
const IDLE_TIMEOUT_MS = 4_000;

/** An open connection to the upstream. It is closed if bytes arrive between two exchanges. */
export class UpstreamConnection {
  user: ConnectionUser | undefined;
  /** Whether it has served a request before. */
  isReused = false;
  idleSinceMs = 0;
  private error?: Error;

  constructor(
    readonly socket: Socket,
    private readonly onGone: (connection: UpstreamConnection) => void,
  ) {
    this.socket
      .on('data', (bytes) => (this.user ? this.user.onData(bytes) : this.socket.destroy()))
      .on('drain', () => this.user?.onDrain())
      .on('error', (error) => (this.error = error))
      .on('close', () => this.close());
  }

  private close(): void {
    this.onGone(this);
    const { user } = this;
    this.user = undefined;
    user?.onClose(this.error);
  }
}

export interface UpstreamPoolOptions {
  /** How long the upstream may accept no connection at all. */
  connectTimeoutMs?: number;
}

/**
 * Connections to an upstream without TLS. They are kept open between requests, and the one used last is used first. A
 * few are opened at a time, and a request that waits takes whichever connection is available first.
 */
export class UpstreamPool {
  private readonly idle: UpstreamConnection[] = [];
  private readonly all = new Set<UpstreamConnection>();
  private readonly opener: ConnectionOpener<ConnectionUser>;

  constructor({ hostname, port: portText }: URL, options: UpstreamPoolOptions = {}) {
    const host = hostname.replace(/^\[|\]$/g, '');
    const port = Number(portText || 80);
    this.opener = new ConnectionOpener({
      ...options,
      dial: () => connect({ host, port, noDelay: true }),
      openEvent: 'connect',
      deliver: (user, socket) => this.give(this.add(socket), user),
      reject: (user, error) => user.onUnavailable(error),
      spare: (socket) => this.release(this.add(socket), performance.now()),
    });
  }

  get idleCount(): number {
    return this.idle.length;
  }

  /** How many requests wait for a connection. */
  get waitingCount(): number {
    return this.opener.waitingCount;
  }

  /** An idle connection; or undefined, and `user` receives a connection or an error later. */
  take(user: ConnectionUser): UpstreamConnection | undefined {
    const connection = user.needsNewConnection ? undefined : this.idle.pop();
    if (!connection) {
      this.opener.open(user, user.maxWaitMs);
      return undefined;
    }
    connection.isReused = true;
    connection.user = user;
    return connection;
  }

  /** Ends the waiting of `user`, who receives nothing anymore. */
  cancel(user: ConnectionUser): void {
    this.opener.cancel(user);
  }

  /** Takes a connection back after a complete response. */
  release(connection: UpstreamConnection, nowMs: number): void {
    connection.user = undefined;
    const { socket } = connection;
    if (socket.destroyed || socket.readableEnded || socket.writableLength > 0) {
      socket.destroy();
      return;
    }
    const next = this.opener.next((user) => !user.needsNewConnection);
    if (next) {
      connection.isReused = true;
      if (socket.isPaused()) socket.resume();
      this.give(connection, next);
    } else if (this.idle.length >= MAX_IDLE) socket.destroy();
    else {
      connection.idleSinceMs = nowMs;
      if (socket.isPaused()) socket.resume();
      this.idle.push(connection);
    }
  }

  /** Closes connections that have been idle for too long, and lets the users of the others check their timeouts. */
  sweep(nowMs: number): void {
    for (const { user } of this.all) user?.check(nowMs);
    for (let oldest = this.idle[0]; oldest && nowMs - oldest.idleSinceMs >= IDLE_TIMEOUT_MS; oldest = this.idle[0]) {
      this.idle.shift();
      oldest.socket.destroy();
    }
  }

  close(): void {
    for (const { socket } of this.all) socket.destroy();
    this.opener.close();
  }

  private add(socket: Socket): UpstreamConnection {
    const connection = new UpstreamConnection(socket, (gone) => this.forget(gone));
    this.all.add(connection);
    return connection;
  }

  private give(connection: UpstreamConnection, user: ConnectionUser): void {
    connection.user = user;
    user.onConnection(connection);
  }

  private forget(connection: UpstreamConnection): void {
    this.all.delete(connection);
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
  }
}

import { connect, type Socket } from 'node:net';

/** The exchange that uses a connection. */
export interface ConnectionUser {
  onData(bytes: Buffer): void;
  onDrain(): void;
  /** The upstream has ended the connection, with an error or without one. Nothing else follows. */
  onClose(error?: Error): void;
  /** Called regularly, for timeouts. */
  check(nowMs: number): void;
}

const MAX_IDLE = 256;
/** Many servers close idle connections after 5 s, and a request sent at that moment is lost, so ours are closed before. */
const IDLE_TIMEOUT_MS = 4_000;

/** A connection to the upstream. It is closed if bytes arrive between two exchanges. */
export class UpstreamConnection {
  user: ConnectionUser | undefined;
  /** Whether it has served a request before. */
  isReused = false;
  isConnected = false;
  idleSinceMs = 0;
  readonly socket: Socket;
  private error?: Error;

  constructor(
    address: { host: string; port: number },
    private readonly onGone: (connection: UpstreamConnection) => void,
  ) {
    this.socket = connect({ ...address, noDelay: true });
    this.socket
      .on('connect', () => (this.isConnected = true))
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

/** Connections to an upstream without TLS. They are kept open between requests, and the one used last is used first. */
export class UpstreamPool {
  private readonly idle: UpstreamConnection[] = [];
  private readonly all = new Set<UpstreamConnection>();
  private readonly address: { host: string; port: number };

  constructor({ hostname, port }: URL) {
    this.address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
  }

  get idleCount(): number {
    return this.idle.length;
  }

  /** An idle connection, or else a new one. */
  take(user: ConnectionUser): UpstreamConnection {
    const connection = this.idle.pop();
    if (!connection) return this.open(user);
    connection.isReused = true;
    connection.user = user;
    return connection;
  }

  /** A new connection, which can't be one that the upstream is closing. */
  open(user: ConnectionUser): UpstreamConnection {
    const connection = new UpstreamConnection(this.address, (gone) => this.forget(gone));
    connection.user = user;
    this.all.add(connection);
    return connection;
  }

  /** Takes a connection back after a complete response. */
  release(connection: UpstreamConnection, nowMs: number): void {
    connection.user = undefined;
    const { socket } = connection;
    if (socket.destroyed || socket.readableEnded || socket.writableLength > 0 || this.idle.length >= MAX_IDLE) {
      socket.destroy();
      return;
    }
    connection.idleSinceMs = nowMs;
    if (socket.isPaused()) socket.resume();
    this.idle.push(connection);
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
  }

  private forget(connection: UpstreamConnection): void {
    this.all.delete(connection);
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
  }
}

import type { Server } from 'node:http';
import { Socket, type SocketConstructorOpts } from 'node:net';
import { DRAIN_TIMEOUT_MS } from './connection-drain.js';

/** A server whose connections another process accepts is listening while that one is. */
export function listensElsewhere(server: Server, isListening: () => boolean): void {
  Object.defineProperty(server, 'listening', { get: isListening });
}

/** The connections of a worker, which the main process has accepted. Its server has no socket of its own. */
export class HandedConnections {
  private readonly open = new Set<Socket>();
  private isClosing = false;
  private onDrained: () => void = () => undefined;
  private server: Server | undefined;

  /** Makes a server take them. Call it once, when its listeners are complete. */
  attach(server: Server): void {
    this.server = server;
    listensElsewhere(server, () => !this.isClosing);
    // Node's server starts the timer for slow requests when it listens.
    server.emit('listening');
  }

  /** @param handle of a connection that was accepted with `allowHalfOpen`, as Node's HTTP server does */
  take(handle: object, onClosed: () => void): void {
    const options = { handle, allowHalfOpen: true, readable: true, writable: true };
    const socket = new Socket(options as SocketConstructorOpts);
    this.open.add(socket);
    socket.once('close', () => {
      this.open.delete(socket);
      onClosed();
      if (this.open.size === 0) this.onDrained();
    });
    this.server?.emit('connection', socket);
  }

  /** Further responses close their connections. */
  stop(): void {
    this.isClosing = true;
  }

  /** Resolves when all connections are closed, at the latest after the time that requests in progress get. */
  async drained(): Promise<void> {
    this.stop();
    this.server?.closeIdleConnections();
    if (this.open.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onDrained = resolve;
    const timer = setTimeout(() => {
      for (const socket of this.open) socket.destroy();
    }, DRAIN_TIMEOUT_MS);
    await promise;
    clearTimeout(timer);
  }
}

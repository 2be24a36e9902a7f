import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { joinPort } from './join-port.js';

export interface PortListenerOptions {
  readonly address: string;
  /** 0 chooses a free one. */
  readonly localPort: number;
  /** Opens a connection to the guest. */
  readonly open: () => Promise<WebSocket>;
  /** Whether a connection is accepted. */
  readonly isAllowed: (socket: Socket) => boolean;
  readonly onFailure: (error: unknown) => void;
}

/** A port of this machine whose connections lead to a port of a guest. */
export class PortListener {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly options: PortListenerOptions,
  ) {}

  /** @throws ClientError when the port is not free */
  static async open(options: PortListenerOptions): Promise<PortListener> {
    // A client may send its first bytes, and their end, before the connection to the guest is open.
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const message = `The port ${options.localPort} of ${options.address} can not be opened: ${error.message}`;
        reject(new ClientError('PORT_NOT_FREE', message, EXIT_CODES.failed));
      });
      server.listen(options.localPort, options.address, () => resolve());
    });
    const listener = new PortListener(server, options);
    server.on('connection', (socket) => void listener.accept(socket));
    return listener;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resets the open connections. */
  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  private async accept(socket: Socket): Promise<void> {
    const { open, isAllowed, onFailure } = this.options;
    socket.on('error', () => undefined);
    if (!isAllowed(socket)) return void socket.resetAndDestroy();
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    try {
      await joinPort(await open(), {
        input: socket,
        output: socket,
        ended: () => void socket.end(),
        abort: () => void socket.resetAndDestroy(),
      });
      socket.destroySoon();
    } catch (error) {
      const hasLeft = socket.destroyed;
      socket.resetAndDestroy();
      // The local program has closed the connection itself.
      if (!hasLeft || !isCut(error)) onFailure(error);
    }
  }
}

const isCut = (error: unknown): boolean =>
  error instanceof ClientError && error.exitCode === EXIT_CODES.unreachable && error.code === 'CONNECTION_FAILED';

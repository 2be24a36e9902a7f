import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { CallerAddress } from './caller-address.js';
import { OpenCounts } from './open-counts.js';

export interface ConnectionLimitDeps {
  addresses: Pick<CallerAddress, 'trusts' | 'sourceOfPeer'>;
  /** How many connections one source may have open. */
  maxPerSource: number;
  /** Receives the source of each connection that is closed. */
  onRefused: (source: string) => void;
}

/** Bounds the open connections of each source, apart from those of trusted proxies, which come from many callers. */
export class ConnectionLimit {
  private readonly counts = new OpenCounts();

  constructor(private readonly deps: ConnectionLimitDeps) {}

  /** Goes before everything that listens for connections of this server by now. Call it once. */
  attach(server: Server): void {
    const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (!this.admits(socket)) return void socket.destroy();
      for (const listener of listeners) listener.call(server, socket);
    });
  }

  /**
   * Takes a place for a connection.
   * @returns gives the place back; call it once. Undefined when the source has none left
   */
  enter(peer: string): (() => void) | undefined {
    const { addresses, maxPerSource, onRefused } = this.deps;
    if (addresses.trusts(peer)) return () => undefined;
    const source = addresses.sourceOfPeer(peer);
    if (this.counts.of(source) >= maxPerSource) {
      onRefused(source);
      return undefined;
    }
    this.counts.open(source);
    return () => this.counts.close(source);
  }

  private admits(socket: Socket): boolean {
    const { remoteAddress } = socket;
    // Without an address, it has closed already.
    const leave = remoteAddress === undefined ? undefined : this.enter(remoteAddress);
    if (leave) socket.once('close', leave);
    return leave !== undefined;
  }
}

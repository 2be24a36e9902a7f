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

  private admits(socket: Socket): boolean {
    const { addresses, maxPerSource, onRefused } = this.deps;
    const { remoteAddress } = socket;
    // It has closed already.
    if (remoteAddress === undefined) return false;
    if (addresses.trusts(remoteAddress)) return true;
    const source = addresses.sourceOfPeer(remoteAddress);
    if (this.counts.of(source) >= maxPerSource) {
      onRefused(source);
      return false;
    }
    this.counts.open(source);
    socket.once('close', () => this.counts.close(source));
    return true;
  }
}

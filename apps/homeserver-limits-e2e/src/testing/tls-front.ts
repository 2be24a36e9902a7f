import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { Certificate } from './certificate.js';

/** Ends TLS and passes the bytes on, as an operator's reverse proxy does. */
export class TlsFront {
  /** Where the bytes go. Other servers have to know the address of the front before the server behind it starts. */
  target = '';
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async listen({ cert, key }: Certificate): Promise<TlsFront> {
    const front: TlsFront = new TlsFront(createServer({ cert, key }, (socket) => front.pass(socket)));
    front.server.listen(0, '127.0.0.1');
    await once(front.server, 'listening');
    return front;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private pass(incoming: Socket): void {
    const outgoing = connect(Number(new URL(this.target).port), '127.0.0.1');
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      this.sockets.add(socket);
      socket.once('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.on('error', () => undefined);
      socket.pipe(other);
    }
  }
}

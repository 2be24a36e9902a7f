import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on this machine. */
export class Receiver {
  readonly received: Received[] = [];
  status = 204;
  private readonly server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += String(chunk)));
    request.on('end', () => {
      this.received.push({ headers: request.headers, body });
      response.writeHead(this.status, { location: 'http://127.0.0.1:1/' }).end();
      this.server.emit('received');
    });
  });

  async open(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook?key=hidden`;
  }

  async until(isMet: (received: readonly Received[]) => boolean): Promise<readonly Received[]> {
    while (!isMet(this.received)) await once(this.server, 'received');
    return this.received;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

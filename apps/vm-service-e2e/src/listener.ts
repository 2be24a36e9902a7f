import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';
import type { AddressInfo } from 'node:net';

/** Another program of the host that listens on a port: it answers every request with `reached`. */
export class Listener {
  /** Paths of the requests that arrived. */
  readonly requests: string[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      this.requests.push(request.url ?? '');
      response.end('reached');
    });
  }

  static async open(address: string): Promise<Listener> {
    const listener = new Listener(createServer());
    listener.server.listen(0, address);
    await once(listener.server, 'listening');
    return listener;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** The IPv4 addresses of this machine other than loopback. */
export const hostAddresses = (): string[] =>
  (Object.values(networkInterfaces()) as NetworkInterfaceInfo[][])
    .flat()
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);

import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { boundedOperations, PathTable } from '@headgate/homeserver-contracts';
import { Bounds } from '../../bounds/bounds.js';
import { Relay } from '../relay.js';
import { RelayPlan } from '../relay-plan.js';

export const OK = 'HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 2\r\n\r\nok';
export const ENDING = 'GET /last HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n';

export const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: b\r\n${headers}\r\n`;
export const statusesOf = (text: string): (string | undefined)[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

/** Requests as the upstream receives them, and the sockets to respond on. */
class TestUpstream {
  readonly heads: string[] = [];
  readonly sockets: Socket[] = [];
  /** Receives each chunk of a connection with all that has arrived on it. */
  respond: (socket: Socket, received: string) => void = (socket) => socket.write(OK);
  private readonly server: Server = createServer((socket) => {
    this.sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      this.heads.push(text);
      this.respond(socket, text);
    });
  });

  async listen(): Promise<URL> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return new URL(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

/** A relay between a server of Node and an upstream. Requests for `/ruled` are left to Node. */
export class RelayFixture {
  readonly upstream = new TestUpstream();
  readonly answers: [string, number | undefined][] = [];
  readonly forgotten: string[] = [];
  /** The requests that Node's server has handled. */
  readonly byNode: string[] = [];
  isTrusted = false;
  /** How long the upstream may be silent: never the cause of a failure, unless a test is about it. */
  timeoutMs = 60_000;
  relay!: Relay;
  port = 0;
  readonly server: HttpServer = createHttpServer((request, response) => {
    this.byNode.push(`${request.method} ${request.url}`);
    void this.handle(request, response);
  });

  static async open(): Promise<RelayFixture> {
    const fixture = new RelayFixture();
    await fixture.start();
    return fixture;
  }

  /** How Node's server handles its requests. */
  handle: RequestListener = (request, response) => void request.resume().once('end', () => response.end('by node'));

  dial(): Socket {
    return connect(this.port, '127.0.0.1').on('error', () => undefined);
  }

  /** Sends bytes, and returns everything received until the connection closes. */
  async exchange(bytes: string): Promise<string> {
    const socket = this.dial();
    let received = '';
    socket.on('data', (part) => (received += part.toString('latin1')));
    socket.write(bytes, 'latin1');
    await once(socket, 'close');
    return received;
  }

  async close(): Promise<void> {
    this.relay.beforeApplicationShutdown();
    this.relay.onApplicationShutdown();
    this.upstream.close();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async start(): Promise<void> {
    const timeout = () => this.timeoutMs;
    this.relay = new Relay({
      upstream: await this.upstream.listen(),
      plan: new RelayPlan({
        table: new PathTable(boundedOperations),
        bounds: new Bounds([]),
        rules: { applyTo: (target) => target.startsWith('/ruled') },
        addresses: { ignoreHeaderOf: () => undefined },
        get timeoutMs() {
          return timeout();
        },
        hasMetrics: true,
      }),
      addresses: { trusts: () => this.isTrusted },
      identity: { forget: (token) => void this.forgotten.push(token) },
      onAnswer: (kind, _ms, failure) => this.answers.push([kind, failure]),
      log: { warn: () => undefined } as never,
    });
    this.relay.attach(this.server);
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    ({ port: this.port } = this.server.address() as AddressInfo);
  }
}

import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { failureStatusOf } from '../pool/upstream-errors.js';
import { Relay } from '../relay/relay.js';
import { requestHeadText } from '../relay/request-head-text.js';

export const OK = 'HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 2\r\n\r\nok';
export const ENDING = 'GET /last HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n';

export const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: b\r\n${headers}\r\n`;
export const statusesOf = (text: string): (string | undefined)[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

/** How long requests in progress get when the fixture closes, in ms. */
const DRAIN_TIMEOUT_MS = 3_000;

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
    return new URL(`http://127.0.0.1:${this.port}`);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

type TestedRelay = Pick<Relay, 'attach' | 'close' | 'drain' | 'waitingCount'>;

/** Creates the relay under test. */
export type CreateRelay = (upstream: URL, fixture: RelayFixture) => TestedRelay;

/** A relay between a server of Node and an upstream. */
export class RelayFixture {
  readonly upstream = new TestUpstream();
  readonly answers: [string, number | undefined][] = [];
  /** The targets of requests that the upstream has refused with 401. */
  readonly unauthorized: string[] = [];
  /** The requests that Node's server has handled. */
  readonly byNode: string[] = [];
  isTrusted = false;
  /** How long the upstream may be silent: never the cause of a failure, unless a test is about it. */
  timeoutMs = 60_000;
  relay!: TestedRelay;
  port = 0;
  readonly server: HttpServer = createHttpServer((request, response) => {
    this.byNode.push(`${request.method} ${request.url}`);
    void this.handle(request, response);
  });

  static async open(create: CreateRelay = createPlainRelay): Promise<RelayFixture> {
    const fixture = new RelayFixture();
    fixture.relay = create(await fixture.upstream.listen(), fixture);
    fixture.relay.attach(fixture.server);
    fixture.server.listen(0, '127.0.0.1');
    await once(fixture.server, 'listening');
    ({ port: fixture.port } = fixture.server.address() as AddressInfo);
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
    this.relay.drain(DRAIN_TIMEOUT_MS);
    this.relay.close();
    this.upstream.close();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/**
 * A relay that leaves requests for `/ruled` to Node. Those for `/kept` are forwarded to their end when their caller
 * hangs up.
 */
const createPlainRelay: CreateRelay = (upstream, fixture) =>
  new Relay({
    upstream,
    plan: (head, peer) =>
      head.target.startsWith('/ruled')
        ? undefined
        : {
            head,
            text: requestHeadText(head, peer),
            outlivesCaller: head.target.startsWith('/kept'),
            timeoutMs: fixture.timeoutMs,
            kind: 'forwarded',
          },
    trusts: () => fixture.isTrusted,
    onAnswer: (kind, _ms, failure) => fixture.answers.push([kind, failure]),
    onUnauthorized: ({ target }) => fixture.unauthorized.push(target),
    respondToFailure: (error, { connection }) =>
      `HTTP/1.1 ${failureStatusOf(error)} X\r\nContent-Length: 6\r\nConnection: ${connection}\r\n\r\nfailed`,
  });

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Recorded {
  method: string;
  target: string;
  rawHeaders: string[];
  body: Buffer;
}

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

/** An upstream that records its requests byte for byte and responds as the test specifies. */
export class RecordingUpstream {
  readonly requests: Recorded[] = [];
  /** Responds before the body has been read, when it is set. */
  early?: Responder;
  respond: Responder = (_request, response) => response.end('{}');
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void = (_request, socket) => socket.destroy();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => void this.handle(request, response));
    this.server.maxHeadersCount = 0;
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  static async listen(): Promise<RecordingUpstream> {
    const upstream = new RecordingUpstream();
    await new Promise<void>((resolve) => upstream.server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get last(): Recorded {
    const last = this.requests.at(-1);
    if (!last) throw new Error('there was no request');
    return last;
  }

  /** How many connections are open. */
  get connections(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    return promise;
  }

  countOf(target: string): number {
    return this.requests.filter((request) => request.target.startsWith(target)).length;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.early) return this.early(request, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', rawHeaders } = request;
    this.requests.push({ method, target: url, rawHeaders, body: Buffer.concat(chunks) });
    this.respond(request, response);
  }
}

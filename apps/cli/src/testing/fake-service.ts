import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** An HTTP server whose answers a test chooses: a service, or something else in its place. */
export class FakeService {
  readonly requests: SeenRequest[] = [];
  private readonly answers = new Map<string, Answer>();

  private constructor(
    readonly server: Server,
    private readonly scheme: 'http' | 'https',
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.receive(request, response));
  }

  static async open(tls?: { readonly key: string; readonly cert: string }): Promise<FakeService> {
    const service = new FakeService(tls ? createTlsServer(tls) : createServer(), tls ? 'https' : 'http');
    service.server.listen(0, '127.0.0.1');
    await once(service.server, 'listening');
    return service;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** @param route a method and a path, without the query, or `*` for all others */
  on(route: string, answer: Answer): this {
    this.answers.set(route, answer);
    return this;
  }

  json(route: string, body: unknown, status = 200, headers: Record<string, string> = {}): this {
    return this.on(route, (response) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
      response.end(JSON.stringify(body));
    });
  }

  /** The requests that were sent, as `GET /api/vms?q=web`. */
  get lines(): string[] {
    return this.requests.map(({ method, url }) => `${method} ${url}`);
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request) text += String(part);
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    this.requests.push(seen);
    const answer = this.answers.get(`${method} ${url.split('?')[0]}`) ?? this.answers.get('*') ?? notFound;
    answer(response, seen);
  }
}

const notFound: Answer = (response, { method, url }) => {
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: `Cannot ${method} ${url}`, code: 'PATH_NOT_FOUND' }));
};

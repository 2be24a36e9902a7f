import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Route = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on a free port, with routes that the test adds. */
export class HttpServer {
  readonly routes = new Map<string, Route>();
  /** Requested paths, in order. */
  readonly requests: string[] = [];

  private constructor(private readonly server: Server) {}

  static async listen(address = '127.0.0.1'): Promise<HttpServer> {
    const server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://host').pathname;
      http.requests.push(path);
      const route = http.routes.get(path);
      if (route) return route(request, response);
      response.writeHead(404).end();
    });
    const http = new HttpServer(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    return http;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get host(): string {
    return `${(this.server.address() as AddressInfo).address}:${this.port}`;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  serve(path: string, body: Buffer | string, headers: Record<string, string> = {}): void {
    this.routes.set(
      path,
      (_request, response) =>
        void response.writeHead(200, { 'content-length': Buffer.byteLength(body), ...headers }).end(body),
    );
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

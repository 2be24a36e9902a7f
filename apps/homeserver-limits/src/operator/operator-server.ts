import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { digest } from '../homeserver/digest.js';
import { errorAnswer } from '../wire/error-answer.js';
import type { OperatorApi } from './operator-api.js';

/**
 * The operator's API on a listener of its own, away from clients:
 * `GET /rules`, `GET /rates/{rate}?key=`, `DELETE /rates/{rate}?key=`, `GET /held?holder=`.
 */
export class OperatorServer {
  private readonly server: Server;
  url?: string;

  constructor(
    private readonly api: OperatorApi,
    private readonly listenAddress: string,
    private readonly token?: string,
  ) {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  async listen(): Promise<void> {
    const colon = this.listenAddress.lastIndexOf(':');
    const host = this.listenAddress.slice(0, colon).replace(/^\[|\]$/g, '');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.server.once('error', reject);
    this.server.listen(Number(this.listenAddress.slice(colon + 1)), host, resolve);
    await promise;
    const { port } = this.server.address() as AddressInfo;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: { status: number; body: Buffer };
    try {
      this.authorize(request);
      answer = { status: 200, body: Buffer.from(JSON.stringify(await this.answer(request))) };
    } catch (error) {
      const { status, body } = errorAnswer(error);
      answer = { status, body: body as Buffer };
    }
    response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': answer.body.length });
    response.end(answer.body);
  }

  // A page in the operator's browser could reach a loopback listener: it sends an Origin, tools do not.
  private authorize({ headers }: IncomingMessage): void {
    if (headers.origin !== undefined) throw MatrixError.forbidden('This API is not for web pages.');
    if (this.token === undefined) return requireLoopbackName(headers.host);
    const given = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const same = timingSafeEqual(Buffer.from(digest(given)), Buffer.from(digest(this.token)));
    if (!same) throw MatrixError.unknownToken();
  }

  private answer({ method, url = '/' }: IncomingMessage): JsonObject | Promise<JsonObject> {
    const { pathname, searchParams } = URL.parse(url, 'http://operator') ?? unknownTarget();
    const rate = /^\/rates\/([a-z_]+)$/.exec(pathname)?.[1];
    if (method === 'GET' && pathname === '/rules') return this.api.rules();
    if (method === 'GET' && pathname === '/held') return this.api.held(required(searchParams, 'holder'));
    if (method === 'GET' && rate) return this.api.inspect(rate, required(searchParams, 'key'));
    if (method === 'DELETE' && rate) return this.api.reset(rate, required(searchParams, 'key'));
    throw MatrixError.unrecognized();
  }
}

function unknownTarget(): never {
  throw MatrixError.unrecognized();
}

/** Without a token, a page could still reach us under a name of its own that points here. */
function requireLoopbackName(host = ''): void {
  if (!/^(?:127\.[0-9.]+|\[::1\]|localhost)(?::[0-9]+)?$/.test(host)) {
    throw MatrixError.forbidden('This API answers to its loopback address only.');
  }
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (!value) throw MatrixError.missingParam(name);
  return value;
}

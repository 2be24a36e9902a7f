import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { PathTable } from '@headgate/homeserver-contracts';
import { UpstreamTimeout } from '@headgate/http-relay';
import { hasTwoHosts } from '../edge/dispatcher.js';
import { errorResponse } from '../errors/error-response.js';
import { serializeResponse } from '../errors/serialize-response.js';
import type { UpstreamClient } from './upstream-client.js';
import { upstreamFailure } from './upstream-failure.js';
import type { UpstreamHeaders } from './upstream-headers.js';

export interface UpgradeProxyDeps {
  upstream: UpstreamClient;
  /** The bounded operations. */
  table: PathTable<string>;
  headers: UpstreamHeaders;
  /** How long the upstream may take to accept, in ms. An accepted connection may be idle for any time. */
  timeoutMs: number;
}

/** Proxies upgraded connections, such as WebSockets, to the upstream. */
export class UpgradeProxy {
  constructor(private readonly deps: UpgradeProxyDeps) {}

  /**
   * Whether a request may leave HTTP for a WebSocket. No operation of the table may: it would bypass its bound. Other
   * protocols, such as h2c, could carry whole requests past the bounds. A server may ignore an `Upgrade` header, so
   * those are ignored. So are those of requests with a body, which would arrive on the upgraded connection while the
   * upstream still waits for it, and of those that are refused anyway.
   */
  accepts(request: IncomingMessage): boolean {
    const { method = '', url = '', headers } = request;
    const isWebSocket = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
    const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
    if (hasTwoHosts(request)) return false;
    return isWebSocket && !hasBody && this.deps.table.classify(method, url).kind === 'unknown';
  }

  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { upstream, timeoutMs } = this.deps;
    const upgrade = ['Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''];
    const headers = [...this.deps.headers.of(request), ...upgrade];
    const outgoing = upstream.open(request.url ?? '/', request.method ?? 'GET', headers);
    let hasResponse = false;
    const timer = setTimeout(() => outgoing.destroy(new UpstreamTimeout()), timeoutMs);
    outgoing.once('close', () => clearTimeout(timer));
    socket.once('error', () => outgoing.destroy());
    socket.once('close', () => outgoing.destroy());
    outgoing.on('error', (error) => {
      if (hasResponse) socket.destroy();
      else socket.end(serializeResponse(errorResponse(upstreamFailure(error))));
    });
    outgoing.once('response', (response) => {
      hasResponse = true;
      clearTimeout(timer);
      socket.write(headOf(response));
      response.once('error', () => socket.destroy());
      response.pipe(socket);
    });
    outgoing.once('upgrade', (response, upstreamSocket, upstreamHead) => {
      hasResponse = true;
      clearTimeout(timer);
      upstreamSocket.once('error', () => socket.destroy());
      socket.once('error', () => upstreamSocket.destroy());
      socket.once('close', () => upstreamSocket.destroy());
      socket.write(headOf(response));
      socket.write(upstreamHead);
      upstreamSocket.write(head);
      upstreamSocket.pipe(socket).pipe(upstreamSocket);
    });
    outgoing.end();
  }
}

/** The head of a response as received. The connection closes after a refused upgrade. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const isDropped = statusCode !== 101 && /^(transfer-encoding|connection|keep-alive)$/i.test(rawHeaders[i] ?? '');
    if (!isDropped) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  if (statusCode !== 101) lines.push('Connection: close');
  return `${lines.join('\r\n')}\r\n\r\n`;
}

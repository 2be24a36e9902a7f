import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpstreamClient } from './upstream-client.js';

const BAD_GATEWAY = 'HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** Hands an upgraded connection (a WebSocket, say) through to the upstream and back. */
export class UpgradeProxy {
  constructor(
    private readonly upstream: UpstreamClient,
    private readonly headersFor: (request: IncomingMessage) => string[],
  ) {}

  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upgrade = ['Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''];
    const headers = [...this.headersFor(request), ...upgrade];
    const outgoing = this.upstream.open(request.url ?? '/', request.method ?? 'GET', headers);
    socket.once('error', () => outgoing.destroy());
    socket.once('close', () => outgoing.destroy());
    outgoing.once('error', () => socket.end(BAD_GATEWAY));
    outgoing.once('response', (answer) => {
      socket.write(headOf(answer));
      answer.pipe(socket);
    });
    outgoing.once('upgrade', (answer, other, otherHead) => {
      other.once('error', () => socket.destroy());
      socket.once('error', () => other.destroy());
      socket.once('close', () => other.destroy());
      socket.write(headOf(answer));
      socket.write(otherHead);
      other.write(head);
      other.pipe(socket).pipe(other);
    });
    outgoing.end();
  }
}

/** The answer's head as it came. A refused upgrade ends with its connection. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const refusedChunked =
      statusCode !== 101 && /^(transfer-encoding|connection|keep-alive)$/i.test(rawHeaders[i] ?? '');
    if (!refusedChunked) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  if (statusCode !== 101) lines.push('Connection: close');
  return `${lines.join('\r\n')}\r\n\r\n`;
}

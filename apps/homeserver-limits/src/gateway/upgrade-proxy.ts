import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { corsHeaders } from '../wire/answer.js';
import { errorAnswer } from '../wire/error-answer.js';
import type { UpstreamClient } from './upstream-client.js';
import { upstreamFailure, UpstreamSilent } from './upstream-failure.js';

export interface UpgradeOptions {
  headersFor: (request: IncomingMessage) => string[];
  /** How long the upstream may think about it, in ms. What it has accepted may be silent for as long as it likes. */
  timeoutMs: number;
}

/** Hands an upgraded connection (a WebSocket, say) through to the upstream and back. */
export class UpgradeProxy {
  constructor(
    private readonly upstream: UpstreamClient,
    private readonly options: UpgradeOptions,
  ) {}

  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upgrade = ['Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''];
    const headers = [...this.options.headersFor(request), ...upgrade];
    const outgoing = this.upstream.open(request.url ?? '/', request.method ?? 'GET', headers);
    let answered = false;
    const late = setTimeout(() => outgoing.destroy(new UpstreamSilent()), this.options.timeoutMs);
    outgoing.once('close', () => clearTimeout(late));
    socket.once('error', () => outgoing.destroy());
    socket.once('close', () => outgoing.destroy());
    outgoing.on('error', (error) => {
      if (answered) socket.destroy();
      else socket.end(failure(error));
    });
    outgoing.once('response', (answer) => {
      answered = true;
      clearTimeout(late);
      socket.write(headOf(answer));
      answer.once('error', () => socket.destroy());
      answer.pipe(socket);
    });
    outgoing.once('upgrade', (answer, other, otherHead) => {
      answered = true;
      clearTimeout(late);
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

/** What the caller is told when there is no answer to hand on. */
function failure(error: unknown): string {
  const { status, headers, body } = errorAnswer(upstreamFailure(error));
  const all = [...headers, ...corsHeaders, 'Connection', 'close', 'Content-Length', String((body as Buffer).length)];
  const lines = all.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : []));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${(body as Buffer).toString('utf8')}`;
}

import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { answerError } from './answer-error.js';
import type { HttpClient, QueryValues } from './http-client.js';
import { networkFailure } from './network-failure.js';

const HANDSHAKE_MS = 30_000;
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Opens a console of the service, with the token in a header. The socket is paused: a console begins with its earlier
 * output, which must not arrive before its listener.
 * @throws ClientError with the sentence of the service when it refuses
 */
export async function openConsole(client: HttpClient, path: string, query: QueryValues): Promise<WebSocket> {
  const { WebSocket } = await import('ws');
  const { ca, url: server } = client.access;
  const url = client.urlOf(path, query);
  url.protocol = url.protocol.replace('http', 'ws');
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, ['binary'], {
      headers: client.headers,
      followRedirects: false,
      handshakeTimeout: HANDSHAKE_MS,
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    });
    socket.once('open', () => {
      socket.pause();
      resolve(socket);
    });
    socket.once('error', (error) => reject(networkFailure(error, server)));
    socket.once('unexpected-response', (_request, answer) => {
      void refusalOf(answer).then((refused) => {
        reject(answerError(server, `GET ${path}`, refused));
        answer.destroy();
      });
    });
  });
}

async function refusalOf(answer: IncomingMessage) {
  const { location, 'content-type': contentType = '' } = answer.headers;
  let text = '';
  try {
    for await (const part of answer.setEncoding('utf8')) {
      text += String(part);
      if (text.length > MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status has to do.
  }
  return { status: answer.statusCode ?? 0, contentType, text, ...(location === undefined ? {} : { location }) };
}

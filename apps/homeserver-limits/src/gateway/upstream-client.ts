import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { MatrixError } from '@headgate/matrix-protocol';

export interface UpstreamRequest {
  method: string;
  /** The request target, sent as it is. */
  target: string;
  /** name, value, name, value */
  headers: readonly string[];
  body?: Buffer | Readable;
  /** How long the upstream may be silent, in ms. */
  timeoutMs: number;
  /** The caller's answer: when it closes unfinished, the caller is gone and the upstream need not go on. */
  caller?: ServerResponse;
}

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

class UpstreamSilent extends Error {}

/** The homeserver behind the gateway, over connections that are kept. */
export class UpstreamClient {
  private readonly agent: HttpAgent;

  constructor(private readonly base: URL) {
    const options = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 256, scheduling: 'lifo' } as const;
    this.agent = base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** @throws MatrixError 502 when the upstream cannot be reached, 504 when it stays silent; the body's own error */
  async send(request: UpstreamRequest): Promise<IncomingMessage> {
    try {
      return await this.attempt(request);
    } catch (error) {
      const mayRepeat = isStaleConnection(error) && IDEMPOTENT.has(request.method) && isRepeatable(request.body);
      if (mayRepeat) return this.attempt(request).catch(translate);
      return translate(error);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  /** A request on a connection of its own, for upgrades. */
  open(target: string, method: string, headers: readonly string[]): ClientRequest {
    return this.request({ method, target, headers, timeoutMs: 0 }, false);
  }

  private attempt(request: UpstreamRequest): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = this.request(request, this.agent);
    // Once the answer has begun, an error belongs to its stream, which ends the caller's connection with it.
    outgoing.on('error', (error) => reject(Object.assign(error, { reusedSocket: outgoing.reusedSocket })));
    outgoing.once('response', resolve);
    outgoing.setTimeout(request.timeoutMs, () => outgoing.destroy(new UpstreamSilent('silent')));
    const { body, caller } = request;
    caller?.once('close', () => {
      if (!caller.writableFinished) outgoing.destroy();
    });
    if (body === undefined || Buffer.isBuffer(body)) outgoing.end(body);
    else {
      body.once('error', (error) => {
        outgoing.destroy();
        reject(error);
      });
      body.pipe(outgoing);
    }
    return promise;
  }

  private request({ method, target, headers }: UpstreamRequest, agent: HttpAgent | false): ClientRequest {
    const send = this.base.protocol === 'https:' ? httpsRequest : httpRequest;
    return send({
      protocol: this.base.protocol,
      hostname: this.base.hostname.replace(/^\[|\]$/g, ''),
      port: this.base.port,
      servername: this.base.hostname,
      method,
      path: target,
      headers: headers as unknown as Record<string, string>,
      setDefaultHeaders: false,
      agent,
    });
  }
}

const isRepeatable = (body: UpstreamRequest['body']): boolean => body === undefined || Buffer.isBuffer(body);

/** The upstream closed a kept connection just as we used it; the request never reached it. */
const isStaleConnection = (error: unknown): boolean => {
  const { reusedSocket, code } = error as { reusedSocket?: boolean; code?: string };
  return reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
};

function translate(error: unknown): never {
  if (error instanceof MatrixError) throw error;
  if (error instanceof UpstreamSilent) {
    throw new MatrixError(504, 'M_UNKNOWN', 'The homeserver does not answer in time.', {}, { cause: error });
  }
  throw new MatrixError(502, 'M_UNKNOWN', 'The homeserver cannot be reached.', {}, { cause: error });
}

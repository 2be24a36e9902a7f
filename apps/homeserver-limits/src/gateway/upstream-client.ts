import {
  Agent as HttpAgent,
  type ClientRequest,
  IncomingMessage,
  request as httpRequest,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { ClientGone } from '@headgate/homeserver-contracts';
import {
  type AgentRequest,
  type AnswerListener,
  CONNECT_TIMEOUT_MS,
  type ConnectionOpener,
  failureStatusOf,
  IDEMPOTENT_METHODS,
  InvalidUpstreamResponse,
  openFewAtOnce,
  UpstreamTimeout,
  type WaitOptions,
} from '@headgate/http-relay';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { UpstreamKind } from '../metrics/limits-metrics.js';
import type { JsonPruner } from './json-pruner.js';
import { sendBody, untilBegun } from './streamed-body.js';
import { upstreamFailure } from './upstream-failure.js';

export interface UpstreamRequest {
  method: string;
  /** The request target, sent as it is. */
  target: string;
  /** name, value, name, value */
  headers: readonly string[];
  body?: Buffer | Readable;
  /** How long the upstream may be idle, in ms. */
  timeoutMs: number;
  /** The response to the caller: when it closes unfinished, the caller is gone and the request is aborted. */
  caller?: ServerResponse;
  /** Whether sending it twice has the effect of sending it once. The method decides when this is left out. */
  isIdempotent?: boolean;
  kind?: UpstreamKind;
}

/**
 * How long an idle connection is kept. Many servers close idle connections after 5 s, and a request sent at that moment
 * is lost, so ours are closed before.
 */
const IDLE_CONNECTION_TIMEOUT_MS = 4_000;

/** The homeserver behind the gateway, over kept-alive connections. */
export class UpstreamClient implements OnApplicationShutdown {
  private readonly agent: HttpAgent;
  private readonly opener: ConnectionOpener<AgentRequest>;

  /** @param ca the certificate authorities (PEM) of an https upstream; those of the system when left out */
  constructor(
    private readonly base: URL,
    private readonly ca?: string,
    private readonly onAnswer: AnswerListener<UpstreamKind> = () => undefined,
  ) {
    const options = {
      keepAlive: true,
      maxSockets: Infinity,
      maxFreeSockets: 256,
      scheduling: 'lifo',
      timeout: IDLE_CONNECTION_TIMEOUT_MS,
    } as const;
    const hasTls = base.protocol === 'https:';
    this.agent = hasTls ? new HttpsAgent(options) : new HttpAgent(options);
    this.opener = openFewAtOnce(this.agent, hasTls ? 'secureConnect' : 'connect');
  }

  /** How many requests wait for a connection. */
  get waitingCount(): number {
    return this.opener.waitingCount;
  }

  onApplicationShutdown(): void {
    this.close();
  }

  /**
   * The response, once its head has arrived.
   * @throws MatrixError 502, 503 or 504 when there is none; the body's own error
   */
  async send(request: UpstreamRequest): Promise<IncomingMessage> {
    return this.start(request).catch((error: unknown) => this.fail(request, error));
  }

  /**
   * The response with its body of at most `limitBytes`, which has to arrive within the request's timeout.
   * @param needsBody the statuses whose body is read
   * @param pruner keeps the needed part of a successful response, while it arrives
   * @throws MatrixError 502, 503 or 504; the body's own error
   */
  async read(
    request: UpstreamRequest,
    limitBytes: number,
    needsBody: (status: number) => boolean = () => true,
    pruner?: JsonPruner,
  ): Promise<{ response: IncomingMessage; body: Buffer }> {
    try {
      const response = await this.start(request, true);
      const { statusCode: status = 0 } = response;
      if (pruner && status === 200) return { response, body: await readPruned(response, limitBytes, pruner) };
      if (needsBody(status)) return { response, body: await readBody(response, limitBytes) };
      response.destroy();
      return { response, body: Buffer.alloc(0) };
    } catch (error) {
      return this.fail(request, error);
    }
  }

  private fail(request: UpstreamRequest, error: unknown): never {
    const { kind = 'query' } = request;
    // The caller has hung up, and the request was aborted for that reason.
    if (isAbandoned(request)) throw new ClientGone();
    const failure = upstreamFailure(error);
    // The caller's own error, such as a body that is too long, is no failure of the upstream.
    if (failure !== error) this.onAnswer(kind, 0, failureStatusOf(error));
    throw failure;
  }

  close(): void {
    this.opener.close();
    this.agent.destroy();
  }

  /** A request on a connection of its own, for upgrades. */
  open(target: string, method: string, headers: readonly string[]): ClientRequest {
    return this.request({ method, target, headers, timeoutMs: CONNECT_TIMEOUT_MS }, false);
  }

  private async start(request: UpstreamRequest, withBody = false): Promise<IncomingMessage> {
    // Callers who send heads and no bodies hold no connection.
    if (request.body instanceof Readable) await untilBegun(request.body);
    const began = performance.now();
    const response = await this.startOrRetry(request, withBody);
    this.onAnswer(request.kind ?? 'query', performance.now() - began);
    return response;
  }

  private async startOrRetry(request: UpstreamRequest, withBody: boolean): Promise<IncomingMessage> {
    try {
      return await this.attempt(request, this.agent, withBody);
    } catch (error) {
      if (!isStaleConnection(error) || !isRetryable(request)) throw error;
      // Not on another kept-alive connection, which may be just as old.
      return this.attempt(request, false, withBody);
    }
  }

  private attempt(request: UpstreamRequest, agent: HttpAgent | false, withBody: boolean): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { body, caller, timeoutMs } = request;
    // They hung up earlier, or the request was aborted for that reason: nothing would abort this one.
    if (isAbandoned(request)) throw new ClientGone();
    const outgoing = this.request(request, agent);
    let started: IncomingMessage | undefined;
    // Once the response has started, an error belongs to its stream, which closes the caller's connection with it.
    outgoing.on('error', (error) => reject(Object.assign(error, { reusedSocket: outgoing.reusedSocket })));
    outgoing.once('response', (response) => {
      if (response.statusCode !== undefined && response.statusCode >= 200) resolve((started = response));
      else outgoing.destroy(new InvalidUpstreamResponse(`the upstream responded with status ${response.statusCode}`));
    });
    // An upgrade that was not requested closes without an error.
    outgoing.once('close', () => {
      if (!started) reject(new InvalidUpstreamResponse('the upstream sent no response'));
    });
    const onTimeout = () => void (started ?? outgoing).destroy(new UpstreamTimeout());
    outgoing.setTimeout(timeoutMs, onTimeout);
    if (withBody) {
      const timer = setTimeout(onTimeout, timeoutMs);
      outgoing.once('close', () => clearTimeout(timer));
    }
    caller?.once('close', () => {
      if (!caller.writableFinished) outgoing.destroy();
    });
    if (body === undefined || Buffer.isBuffer(body)) outgoing.end(body);
    else {
      body.once('error', (error) => {
        outgoing.destroy();
        reject(error);
      });
      sendBody(body, outgoing, reject);
    }
    return promise;
  }

  private request({ method, target, headers, timeoutMs }: UpstreamRequest, agent: HttpAgent | false): ClientRequest {
    const { protocol, hostname, port } = this.base;
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    const host = hostname.replace(/^\[|\]$/g, '');
    const options: RequestOptions & WaitOptions = {
      maxWaitMs: timeoutMs,
      protocol,
      hostname: host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      ...(this.ca !== undefined && { ca: this.ca }),
      method,
      path: target,
      timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
      headers: headers as unknown as Record<string, string>,
      setDefaultHeaders: false,
      agent,
    };
    return send(options);
  }
}

/** Reads a response's body of at most `limitBytes`. Rejects when it is longer. */
async function readBody(stream: Readable, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await readChunks(stream, limitBytes, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

async function readPruned(stream: Readable, limitBytes: number, pruner: JsonPruner): Promise<Buffer> {
  await readChunks(stream, limitBytes, (chunk) => pruner.write(chunk));
  return pruner.end();
}

async function readChunks(stream: Readable, limitBytes: number, onChunk: (chunk: Buffer) => void): Promise<void> {
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limitBytes) throw new Error(`the upstream's response is longer than ${limitBytes} bytes`);
    onChunk(chunk);
  }
}

/** Whether the caller is gone, or the stream of its body broke off. */
function isAbandoned({ caller, body }: UpstreamRequest): boolean {
  if (caller?.destroyed) return true;
  if (body === undefined || Buffer.isBuffer(body) || !body.destroyed) return false;
  return body.errored instanceof ClientGone || (body instanceof IncomingMessage && !body.complete);
}

/** Whether the upstream closed a kept-alive connection just as it was reused. */
function isStaleConnection(error: unknown): boolean {
  const { reusedSocket, code } = error as { reusedSocket?: boolean; code?: string };
  return reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** Whether a request with an unknown outcome may be sent again: its body is still available, and it is idempotent. */
const isRetryable = ({ method, body, isIdempotent = IDEMPOTENT_METHODS.has(method) }: UpstreamRequest): boolean =>
  isIdempotent && (body === undefined || Buffer.isBuffer(body));

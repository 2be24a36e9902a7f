import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { bodyOf } from './body-of.js';
import { isStaleConnection, mayRepeat } from './repeating.js';
import { failUpstream, UpstreamGarbled, UpstreamSilent } from './upstream-failure.js';

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
  /** Doing it twice is doing it once. Its method says so when this is left out. */
  repeatable?: boolean;
}

/**
 * How long a connection may take to come about, and how long it is kept while idle: servers close idle ones, many after
 * 5 s, and a request that is sent just then is lost, so ours are closed before.
 */
const CONNECTION_MS = 4_000;

/** The homeserver behind the gateway, over connections that are kept. */
export class UpstreamClient {
  private readonly agent: HttpAgent;

  /**
   * @param ca who may have signed an https upstream's certificate (PEM); those that the system trusts when left out
   */
  constructor(
    private readonly base: URL,
    private readonly ca?: string,
  ) {
    const options = {
      keepAlive: true,
      maxSockets: Infinity,
      maxFreeSockets: 256,
      scheduling: 'lifo',
      timeout: CONNECTION_MS,
    } as const;
    this.agent = base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** The answer, as it begins. @throws MatrixError 502 or 504 when there is none; the body's own error */
  async send(request: UpstreamRequest): Promise<IncomingMessage> {
    return this.begin(request).catch(failUpstream);
  }

  /**
   * The answer with its body of at most `limit` bytes, which has to be there as a whole in the request's time.
   * @param wanted the statuses whose body matters; that of any other is left out
   * @throws MatrixError 502 or 504 when it is not there; the body's own error
   */
  async read(
    request: UpstreamRequest,
    limit: number,
    wanted: (status: number) => boolean = () => true,
  ): Promise<{ answer: IncomingMessage; body: Buffer }> {
    try {
      const answer = await this.begin(request, true);
      if (wanted(answer.statusCode ?? 0)) return { answer, body: await bodyOf(answer, limit) };
      answer.destroy();
      return { answer, body: Buffer.alloc(0) };
    } catch (error) {
      return failUpstream(error);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  /** A request on a connection of its own, for upgrades. */
  open(target: string, method: string, headers: readonly string[]): ClientRequest {
    return this.request({ method, target, headers, timeoutMs: CONNECTION_MS }, false);
  }

  private async begin(request: UpstreamRequest, whole = false): Promise<IncomingMessage> {
    try {
      return await this.attempt(request, this.agent, whole);
    } catch (error) {
      if (!isStaleConnection(error) || !mayRepeat(request)) throw error;
      // Not on another kept connection, which may be as old.
      return this.attempt(request, false, whole);
    }
  }

  private attempt(request: UpstreamRequest, agent: HttpAgent | false, whole: boolean): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { body, caller, timeoutMs } = request;
    const outgoing = this.request(request, agent);
    let begun: IncomingMessage | undefined;
    // Once the answer has begun, an error belongs to its stream, which ends the caller's connection with it.
    outgoing.on('error', (error) => reject(Object.assign(error, { reusedSocket: outgoing.reusedSocket })));
    outgoing.once('response', (answer) => {
      if (answer.statusCode !== undefined && answer.statusCode >= 200) resolve((begun = answer));
      else outgoing.destroy(new UpstreamGarbled(`the upstream answered with the status ${answer.statusCode}`));
    });
    // A change of the protocol that nobody asked for ends without an error.
    outgoing.once('close', () => {
      if (!begun) reject(new UpstreamGarbled('the upstream gave no answer'));
    });
    const late = () => void (begun ?? outgoing).destroy(new UpstreamSilent());
    outgoing.setTimeout(timeoutMs, late);
    if (whole) {
      const timer = setTimeout(late, timeoutMs);
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
      body.pipe(outgoing);
    }
    return promise;
  }

  private request({ method, target, headers, timeoutMs }: UpstreamRequest, agent: HttpAgent | false): ClientRequest {
    const { protocol, hostname, port } = this.base;
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    const host = hostname.replace(/^\[|\]$/g, '');
    return send({
      protocol,
      hostname: host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      ...(this.ca !== undefined && { ca: this.ca }),
      method,
      path: target,
      timeout: Math.min(CONNECTION_MS, timeoutMs),
      headers: headers as unknown as Record<string, string>,
      setDefaultHeaders: false,
      agent,
    });
  }
}

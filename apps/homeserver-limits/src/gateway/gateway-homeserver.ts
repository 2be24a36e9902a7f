import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { UPLOAD_LIMIT_BYTES } from '../bounds/upload.bound.js';
import { Homeserver } from '../homeserver/homeserver.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { asJson, endToEnd, towardsUpstream } from './forwarded-headers.js';
import type { GatewayCalls } from './gateway-calls.js';
import type { GatewayIdentity } from './gateway-identity.js';
import { lowerUploadSize } from './media-config.js';
import type { UpstreamClient, UpstreamRequest } from './upstream-client.js';

export type Interest = 'none' | 'status' | 'body';

/** Told of every answer to an operation of the table. */
export interface AnswerObserver {
  /** What of an answer tells what somebody holds. An answer whose body does is read whole. */
  interest(request: MatrixRequest, operation: string): Interest;
  observe(request: MatrixRequest, operation: string, answer: Answer): Promise<void>;
}

export interface GatewayOptions {
  /** For requests that name no host. */
  host: string;
  timeoutMs: number;
  trusts: (peer: string) => boolean;
  log: Pick<Logger, 'error'>;
  /** Answers the media service's endpoint; absent: the homeserver does. */
  calls?: GatewayCalls | undefined;
}

const CALLS = /^\/+_svc\/+rtc\/+media\//;

const MAX_READ_BYTES = 1024 * 1024;

/** Forwards to the upstream: the target byte for byte, bodies as they stream, both ways. */
export class GatewayHomeserver extends Homeserver {
  constructor(
    private readonly upstream: UpstreamClient,
    private readonly identity: GatewayIdentity,
    private readonly observer: AnswerObserver,
    private readonly options: GatewayOptions,
  ) {
    super();
  }

  override answer(request: MatrixRequest, operation: string): Promise<Answer> {
    const { calls } = this.options;
    if (calls && operation === 'sfuCredential') return calls.answer(request);
    const interest = this.observer.interest(request, operation);
    const special = interest !== 'none' || operation === 'mediaConfig' || TOKEN_ENDING.has(operation);
    if (special) return this.answerSpecial(request, operation, interest);
    return this.forward(request, { decided: !UPLOADS.has(operation) });
  }

  override answerUnknown(request: MatrixRequest): Promise<Answer> {
    return this.forward(request, { decided: false });
  }

  override preflight(request: MatrixRequest): Promise<Answer> {
    // The homeserver knows nothing of what is answered here.
    if (this.options.calls && CALLS.test(request.target)) return super.preflight(request);
    return this.forward(request, { decided: false });
  }

  private async answerSpecial(request: MatrixRequest, operation: string, interest: Interest): Promise<Answer> {
    const answer = await this.forward(request, {
      decided: true,
      read: interest === 'body' || operation === 'mediaConfig',
    });
    this.dropEndedTokens(request, operation, answer);
    if (interest !== 'none') await this.observe(request, operation, answer);
    return operation === 'mediaConfig' ? lowerUploadSize(answer, UPLOAD_LIMIT_BYTES) : answer;
  }

  /**
   * @param decided a bound has decided on the request: it is seen to its end, whether the caller stays or not. Else he could
   * have everything done and hang up before the answer, and nothing would count.
   */
  private async forward(request: MatrixRequest, { decided, read = false }: Forwarding): Promise<Answer> {
    const { raw, response, method, target } = request;
    const peer = raw.socket.remoteAddress ?? '';
    const own = towardsUpstream(raw, peer, this.options.trusts(peer));
    const headers = decided ? asJson(own) : own;
    // HTTP/1.0 has none, and what goes on is HTTP/1.1.
    if (raw.headers.host === undefined) headers.push('Host', this.options.host);
    const outgoing: UpstreamRequest = {
      method,
      target,
      headers: read ? withoutCompression(headers) : headers,
      body: await bodyFor(request),
      timeoutMs: this.options.timeoutMs + requestedWait(request),
      caller: decided ? undefined : response,
    };
    if (read) {
      const { answer, body } = await this.upstream.read(outgoing, MAX_READ_BYTES);
      return this.answered(request, answer, body);
    }
    const answer = await this.upstream.send(outgoing);
    // Nobody is left who would take it.
    if (response.destroyed) answer.destroy();
    return this.answered(request, answer, answer);
  }

  private answered(request: MatrixRequest, answer: IncomingMessage, body: Answer['body']): Answer {
    const { statusCode: status = 502 } = answer;
    if (status === 401) this.forgetToken(request);
    return { status, headers: endToEnd(answer), body };
  }

  /** What was done is done, whether it can be noted here or not: the caller gets to know of it, and it counts. */
  private async observe(request: MatrixRequest, operation: string, answer: Answer): Promise<void> {
    try {
      await this.observer.observe(request, operation, answer);
    } catch (error) {
      this.options.log.error({ err: error, operation }, 'what somebody holds could not be noted');
    }
  }

  private dropEndedTokens(request: MatrixRequest, operation: string, { status }: Answer): void {
    const token = TOKEN_ENDING.has(operation) && status < 300 ? request.token() : undefined;
    if (token === undefined) return;
    this.identity.forgetUserOf(token);
    this.identity.forget(token);
  }

  private forgetToken(request: MatrixRequest): void {
    try {
      const token = request.token();
      if (token !== undefined) this.identity.forget(token);
    } catch {
      // two different tokens: none of them is remembered
    }
  }
}

interface Forwarding {
  decided: boolean;
  /** The answer is read whole. */
  read?: boolean;
}

/** Only their length is bounded, and their bodies are not JSON. */
const UPLOADS = new Set(['upload', 'uploadTo']);

const TOKEN_ENDING = new Set(['logout', 'logoutAll', 'endTokens']);

async function bodyFor(request: MatrixRequest) {
  if (request.bodyWasRead) return request.bytes(0);
  const { raw } = request;
  const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0;
  return hasBody ? request.stream() : undefined;
}

/** A long poll says itself how long it may take. */
function requestedWait(request: MatrixRequest): number {
  const wait = request.target.includes('timeout=') ? Number(request.query.get('timeout')) : 0;
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, LONGEST_WAIT_MS) : 0;
}

const LONGEST_WAIT_MS = 10 * 60 * 1000;

function withoutCompression(headers: readonly string[]): string[] {
  const kept = headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== 'accept-encoding');
  return [...kept, 'Accept-Encoding', 'identity'];
}

import type { IncomingMessage } from 'node:http';
import {
  Homeserver,
  type MatrixRequest,
  type MatrixResponse,
  UPLOAD_LIMIT_BYTES,
} from '@headgate/homeserver-contracts';
import type { Logger } from 'pino';
import type { GatewayCallCredentials } from './gateway-call-credentials.js';
import type { GatewayIdentity } from './gateway-identity.js';
import { lowerUploadSize } from './media-config.js';
import type { UpstreamClient, UpstreamRequest } from './upstream-client.js';
import { endToEndHeaders, type UpstreamHeaders, withJsonContentType } from './upstream-headers.js';

/** The part of a response that an observer needs. */
export type Interest = 'none' | 'status' | 'body';

/** Receives the responses to operations of the table. */
export interface ResponseObserver {
  /** The part of the response that says what the caller holds. For `body`, the response is buffered. */
  interest(request: MatrixRequest, operation: string): Interest;
  observe(request: MatrixRequest, operation: string, response: MatrixResponse): Promise<void>;
}

export interface GatewayHomeserverDeps {
  upstream: UpstreamClient;
  identity: GatewayIdentity;
  observer: ResponseObserver;
  headers: Pick<UpstreamHeaders, 'of'>;
  timeoutMs: number;
  log: Pick<Logger, 'error'>;
  /** Serves the media service's endpoint. Absent: the upstream does. */
  calls?: GatewayCallCredentials | undefined;
}

/** The endpoints that the gateway serves itself if it is configured to. */
export const CALLS = /^\/+_svc\/+rtc\/+media\//;

const MAX_BUFFERED_RESPONSE_BYTES = 1024 * 1024;

/** Forwards to the upstream: the target byte for byte, bodies as streams in both directions. */
export class GatewayHomeserver extends Homeserver {
  constructor(private readonly deps: GatewayHomeserverDeps) {
    super();
  }

  override handle(request: MatrixRequest, operation: string): Promise<MatrixResponse> {
    const { calls, observer } = this.deps;
    if (calls && operation === 'sfuCredential') return calls.handle(request);
    const interest = observer.interest(request, operation);
    const isSpecial = interest !== 'none' || readsResponse(request, operation) || TOKEN_REVOKING.has(operation);
    if (isSpecial) return this.forwardAndInspect(request, operation, interest);
    return this.forward(request, { isBounded: !UPLOADS.has(operation) });
  }

  override handleUnknown(request: MatrixRequest): Promise<MatrixResponse> {
    return this.forward(request, { isBounded: request.outlivesCaller });
  }

  override preflight(request: MatrixRequest): Promise<MatrixResponse> {
    // The upstream does not know the endpoints that the gateway serves.
    if (this.deps.calls && CALLS.test(request.target)) return super.preflight(request);
    return this.forward(request, { isBounded: false });
  }

  private async forwardAndInspect(
    request: MatrixRequest,
    operation: string,
    interest: Interest,
  ): Promise<MatrixResponse> {
    const buffered = interest === 'body' || readsResponse(request, operation);
    const response = await this.forward(request, { isBounded: true, buffered });
    this.forgetRevokedTokens(request, operation, response);
    if (interest !== 'none') await this.observe(request, operation, response);
    return operation === 'mediaConfig' ? lowerUploadSize(response, UPLOAD_LIMIT_BYTES) : response;
  }

  private async forward(
    request: MatrixRequest,
    { isBounded, buffered = false }: ForwardOptions,
  ): Promise<MatrixResponse> {
    const { raw, response: outgoing, method, target } = request;
    const { upstream, timeoutMs } = this.deps;
    const waitMs = requestedWaitMs(request);
    const received = this.deps.headers.of(raw);
    const headers = isBounded && !request.hasForm ? withJsonContentType(received) : received;
    const upstreamRequest: UpstreamRequest = {
      method,
      target,
      headers: buffered ? withoutCompression(headers) : headers,
      body: await bodyOf(request),
      timeoutMs: timeoutMs + waitMs,
      caller: isBounded ? undefined : outgoing,
      kind: waitMs > 0 ? 'long_poll' : 'forwarded',
    };
    if (buffered) {
      const { response, body } = await upstream.read(upstreamRequest, MAX_BUFFERED_RESPONSE_BYTES);
      return this.toMatrixResponse(request, response, body);
    }
    const response = await upstream.send(upstreamRequest);
    // The caller has hung up.
    if (outgoing.destroyed) response.destroy();
    return this.toMatrixResponse(request, response, response);
  }

  private toMatrixResponse(
    request: MatrixRequest,
    response: IncomingMessage,
    body: MatrixResponse['body'],
  ): MatrixResponse {
    const { statusCode: status = 502 } = response;
    if (status === 401) this.forgetToken(request);
    return { status, headers: endToEndHeaders(response), body, isForwarded: true };
  }

  /** The upstream has done its work, recorded or not: the caller receives the response, and it counts. */
  private async observe(request: MatrixRequest, operation: string, response: MatrixResponse): Promise<void> {
    try {
      await this.deps.observer.observe(request, operation, response);
    } catch (error) {
      this.deps.log.error({ err: error, operation }, 'a change of what a user holds could not be recorded');
    }
  }

  private forgetRevokedTokens(request: MatrixRequest, operation: string, { status }: MatrixResponse): void {
    const token = TOKEN_REVOKING.has(operation) && status < 300 ? request.token() : undefined;
    if (token === undefined) return;
    this.deps.identity.forgetUserOf(token);
    this.deps.identity.forget(token);
  }

  private forgetToken(request: MatrixRequest): void {
    try {
      const token = request.token();
      if (token !== undefined) this.deps.identity.forget(token);
    } catch {
      // A request with two different tokens: neither of them is cached.
    }
  }
}

interface ForwardOptions {
  /**
   * A bound has decided on the request, so it is forwarded to its end even when the caller hangs up. Otherwise a caller
   * could have everything done and hang up before the response, and nothing would count.
   */
  isBounded: boolean;
  /** The response is buffered. */
  buffered?: boolean;
}

/** Only their length is bounded, and their bodies are not JSON. */
const UPLOADS = new Set(['upload', 'uploadTo']);

/** Their responses are buffered: the upload size is changed, and a 401 says what became of the password in `auth`. */
const READ_RESPONSES = new Set(['mediaConfig', 'endTokens', 'authenticate']);

const readsResponse = (request: MatrixRequest, operation: string): boolean =>
  request.readsResponse || READ_RESPONSES.has(operation);

const TOKEN_REVOKING = new Set(['logout', 'logoutAll', 'refreshToken', 'endTokens']);

async function bodyOf(request: MatrixRequest) {
  if (request.bodyWasRead) return request.bytes(0);
  return request.hasBody ? request.stream() : undefined;
}

/** A long poll names its own timeout. */
export function requestedWaitMs(request: Pick<MatrixRequest, 'target' | 'query'>): number {
  const wait = request.target.includes('timeout=') ? Number(request.query.get('timeout')) : 0;
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, MAX_WAIT_MS) : 0;
}

const MAX_WAIT_MS = 10 * 60 * 1000;

function withoutCompression(headers: readonly string[]): string[] {
  const kept = headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== 'accept-encoding');
  return [...kept, 'Accept-Encoding', 'identity'];
}

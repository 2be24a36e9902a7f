import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type BodyBudget,
  type Classified,
  ClientGone,
  drain,
  type Homeserver,
  MatrixRequest,
  type MatrixResponse,
  type PathTable,
  writeResponse,
} from '@headgate/homeserver-contracts';
import { MatrixError } from '@headgate/matrix-protocol';
import type { Logger } from 'pino';
import type { Bounds } from '../bounds/bounds.js';
import type { OperationRules } from '../bounds/operation-rules.js';
import { errorResponse } from '../errors/error-response.js';
import type { DenyGate } from '../deny/deny-gate.js';
import type { AbandonedRequests } from './abandoned-requests.js';
import type { CallerAddress } from './caller-address.js';
import type { RequestPlaces } from './request-limit.js';

export interface DispatcherDeps {
  table: PathTable<string>;
  bounds: Bounds;
  rules: Pick<OperationRules, 'run'>;
  homeserver: Homeserver;
  addresses: CallerAddress;
  /** The memory that buffered request bodies share. */
  bodies: BodyBudget;
  /** Bounds those whose callers have hung up. */
  abandoned: Pick<AbandonedRequests, 'follow'>;
  /** Bounds the requests of one source that are in progress; absent if they are not bounded. */
  limit?: RequestPlaces | undefined;
  /** Refuses the addresses of deny lists; absent without any. */
  deny?: Pick<DenyGate, 'isOpen' | 'refusalOf'> | undefined;
  log: Logger;
}

type KnownCaller = ReturnType<CallerAddress['of']>;

/** The path of every request: classify it, run its bound, then let the homeserver handle it. */
export class Dispatcher {
  constructor(private readonly deps: DispatcherDeps) {}

  async dispatch(raw: IncomingMessage, outgoing: ServerResponse, target: string): Promise<void> {
    const { limit, addresses, abandoned } = this.deps;
    let leave: (() => void) | undefined;
    let end: (() => void) | undefined;
    try {
      await this.answer(raw, outgoing, target, async () => {
        const caller = addresses.of(raw);
        end = abandoned.follow(caller, outgoing);
        leave = await limit?.enter(raw, target, caller);
        return this.respond(raw, outgoing, target, caller);
      });
    } finally {
      leave?.();
      end?.();
    }
  }

  /** Resolves when the response has been written, or the caller is gone and the upstream has responded. */
  private async answer(
    raw: IncomingMessage,
    outgoing: ServerResponse,
    target: string,
    respond: () => Promise<MatrixResponse>,
  ): Promise<void> {
    const response = await respond().catch((error: unknown) => this.refusal(error, raw, target));
    if (!response) return;
    if (outgoing.destroyed) return discard(response);
    // A refusal may come before the body has been read. The client still has to receive it.
    if (Buffer.isBuffer(response.body)) drain(raw);
    await writeResponse(outgoing, response).catch(() => outgoing.destroy());
    // The upstream may respond without reading the whole body; the rest would block the connection.
    if (!Buffer.isBuffer(response.body)) drain(raw);
  }

  private respond(
    raw: IncomingMessage,
    outgoing: ServerResponse,
    target: string,
    caller: KnownCaller,
  ): Promise<MatrixResponse> {
    const { table, bounds, rules, homeserver } = this.deps;
    const method = raw.method === 'HEAD' ? 'GET' : (raw.method ?? 'GET');
    const classified = table.classify(method, target);
    if (classified.kind === 'ambiguous') return Promise.reject(MatrixError.unrecognized());
    if (hasTwoHosts(raw)) return Promise.reject(twoHosts());
    if (hasUnsupportedEncoding(raw)) return Promise.reject(unsupportedEncoding());
    const { deny } = this.deps;
    if (deny && !deny.isOpen) {
      const refusal = deny.refusalOf(caller, withoutSecrets(target));
      if (refusal) return Promise.reject(refusal);
    }
    const request = this.requestOf({ raw, response: outgoing, target }, classified, caller);
    if (raw.method === 'OPTIONS') return homeserver.preflight(request);
    if (classified.kind === 'unknown') {
      const handle = () => homeserver.handleUnknown(request, () => table.methodsOf(classified.target));
      return rules.run(request, classified, handle);
    }
    const { operation } = classified.match;
    const next = () => homeserver.handle(request, operation);
    const bound = bounds.of(operation);
    return rules.run(request, classified, next, bound && ((handle) => bound.run(request, handle)));
  }

  private requestOf(
    received: { raw: IncomingMessage; response: ServerResponse; target: string },
    classified: Exclude<Classified<string>, { kind: 'ambiguous' }>,
    caller: KnownCaller,
  ): MatrixRequest {
    const params = classified.kind === 'matched' ? classified.match.params : {};
    const { query: queryText } = classified.target;
    const { bodies: budget } = this.deps;
    return new MatrixRequest({ ...received, ...caller, params, queryText, budget });
  }

  private refusal(error: unknown, raw: IncomingMessage, target: string): MatrixResponse | undefined {
    if (error instanceof ClientGone || (raw.destroyed && !raw.complete)) return undefined;
    const response = errorResponse(error);
    if (isFailure(response.status)) this.logFailure(error, response.status, withoutSecrets(target));
    return response;
  }

  private logFailure(error: unknown, status: number, path: string): void {
    if (status === 502 || status === 504) this.deps.log.warn({ err: error, path }, 'the upstream failed');
    else this.deps.log.error({ err: error, path }, 'a request failed');
  }
}

/** Servers differ in which one they take. Node's server keeps the first one and drops the others. */
export const hasTwoHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1;

const twoHosts = (): MatrixError => new MatrixError(400, 'M_UNKNOWN', 'The request has more than one Host header.');

/** A body that is compressed on the way would reach the upstream without the header that says so. */
const hasUnsupportedEncoding = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined && headers['transfer-encoding'].trim().toLowerCase() !== 'chunked';

const unsupportedEncoding = (): MatrixError =>
  new MatrixError(501, 'M_UNRECOGNIZED', 'The only transfer encoding that this server accepts is chunked.');

/**
 * The path for the log: without the query, and without the ID of a delayed event, which alone authorizes changing it.
 */
export const withoutSecrets = (target: string): string =>
  (target.split('?', 1)[0] ?? '').replace(/(delayed_events\/+)[^/]+/, '$1…');

/** Refusals with 501 and 503 are not failures. A log line for each would serve an attacker. */
const isFailure = (status: number): boolean => status >= 500 && status !== 501 && status !== 503;

/** The caller has gone: the rest of the response would only hold its connection. */
function discard({ body }: MatrixResponse): void {
  if (!Buffer.isBuffer(body)) body.destroy();
}

import type { MatrixRequest } from '@headgate/homeserver-contracts';
import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { UpstreamRefusal } from '../errors/error-response.js';
import { assertedParameters } from './asserted-identity.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { JsonPruner } from './json-pruner.js';
import type { UpstreamClient } from './upstream-client.js';
import { failUpstream } from './upstream-failure.js';
import type { UpstreamHeaders } from './upstream-headers.js';

/** Identities and refusals. */
const SHORT_RESPONSE_BYTES = 64 * 1024;
/** Everything that a user holds, with its content. */
const LIST_RESPONSE_BYTES = 16 * 1024 * 1024;
/**
 * The members of lists that no count depends on, and how much of the rest is parsed at a time: that takes less than 20
 * ms.
 */
const PRUNING = {
  dropped: [
    'content',
    'data',
    'device_lists',
    'ephemeral',
    'presence',
    'state',
    'summary',
    'timeline',
    'to_device',
    'unread_notifications',
    'unread_thread_notifications',
  ],
  maxBytes: 3 * 1024 * 1024,
};
const MAX_CONCURRENT_LISTS = 8;

interface Query {
  method: string;
  target: string;
  body?: JsonObject | undefined;
  /** The authorization, and the address and user agent of the caller. */
  headers: readonly string[];
}

export interface QueryResult {
  status: number;
  /** Undefined when the body was not a JSON object. */
  body: JsonObject | undefined;
  retryAfter: string | undefined;
}

/** Statuses that refuse the caller. Any other says something about the homeserver, or about the gateway's query. */
const CALLER_REFUSALS = new Set([400, 401, 403, 429]);

/** The error for a query without a usable result: a refusal of the caller word for word, otherwise 502. */
export function queryFailure({ status, body, retryAfter }: QueryResult, message: string): Error {
  if (!CALLER_REFUSALS.has(status) || typeof body?.errcode !== 'string') {
    return new MatrixError(502, 'M_UNKNOWN', message);
  }
  return new UpstreamRefusal(status, body, retryAfter === undefined ? [] : ['Retry-After', retryAfter]);
}

export interface UpstreamQueriesDeps {
  client: UpstreamClient;
  host: string;
  timeoutMs: number;
  headers: Pick<UpstreamHeaders, 'forwardedFor'>;
}

/** The gateway's own queries to the upstream. None of them changes anything there. */
export class UpstreamQueries {
  private readonly lists = new ConcurrencyLimit(MAX_CONCURRENT_LISTS);

  constructor(private readonly deps: UpstreamQueriesDeps) {}

  /** A query with a short response, with the caller's access token and asserted identity. */
  asCaller(request: MatrixRequest, method: string, path: string, body?: JsonObject): Promise<QueryResult> {
    return this.send(this.queryOf(request, method, path, body), SHORT_RESPONSE_BYTES);
  }

  /** A query whose response may be long. Few run at a time, so that they cannot exhaust the memory. */
  list(request: MatrixRequest, path: string): Promise<QueryResult> {
    const query = this.queryOf(request, 'GET', path);
    const send = () => this.send(query, LIST_RESPONSE_BYTES, undefined, new JsonPruner(PRUNING));
    return this.lists.run(this.deps.timeoutMs, send).catch(failUpstream);
  }

  /** Whether the path exists for the caller. Its content is not read. */
  async exists(request: MatrixRequest, path: string): Promise<boolean> {
    const isConclusive = (status: number) => status === 200 || status === 404;
    const query = this.queryOf(request, 'GET', path);
    const result = await this.send(query, SHORT_RESPONSE_BYTES, (status) => !isConclusive(status));
    if (isConclusive(result.status)) return result.status === 200;
    throw queryFailure(result, 'The homeserver did not report what it holds.');
  }

  /** A query with a short response on behalf of a caller, without a token or with one of the gateway's own. */
  get(request: MatrixRequest, path: string, token?: string): Promise<QueryResult> {
    const authorization = token === undefined ? [] : ['Authorization', `Bearer ${token}`];
    const headers = [...authorization, ...this.originOf(request)];
    return this.send({ method: 'GET', target: path, headers }, SHORT_RESPONSE_BYTES);
  }

  private queryOf(request: MatrixRequest, method: string, path: string, body?: JsonObject): Query {
    const asserted = new URLSearchParams(assertedParameters(request)).toString();
    const target = asserted === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${asserted}`;
    const headers = ['Authorization', `Bearer ${request.token() ?? ''}`, ...this.originOf(request)];
    return { method, target, body, headers };
  }

  /** The homeserver records the address and the user agent of each use of a token, and limits by address. */
  private originOf(request: MatrixRequest): string[] {
    const headers = ['X-Forwarded-For', this.deps.headers.forwardedFor(request.raw)];
    const userAgent = request.header('user-agent');
    return userAgent === undefined ? headers : [...headers, 'User-Agent', userAgent];
  }

  private async send(
    { method, target, body, headers: own }: Query,
    limitBytes: number,
    needsBody?: (status: number) => boolean,
    pruner?: JsonPruner,
  ): Promise<QueryResult> {
    const bytes = body && Buffer.from(JSON.stringify(body));
    const content = bytes ? ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)] : [];
    const { client, host, timeoutMs } = this.deps;
    const headers = ['Host', host, 'Accept', 'application/json', ...content, ...own];
    const request = { method, target, headers, body: bytes, timeoutMs, isIdempotent: true };
    const { response, body: text } = await client.read(request, limitBytes, needsBody, pruner);
    return { status: response.statusCode ?? 502, body: objectIn(text), retryAfter: response.headers['retry-after'] };
  }
}

function objectIn(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

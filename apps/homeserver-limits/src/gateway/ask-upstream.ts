import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { ForeignRefusal } from '../wire/error-answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { actingParameters } from './acting-for.js';
import { Turns } from './turns.js';
import type { UpstreamClient } from './upstream-client.js';
import { failUpstream } from './upstream-failure.js';

/** Who somebody is, and refusals. */
const SHORT_BYTES = 64 * 1024;
/** Everything that somebody holds, with its content. */
const LONG_BYTES = 16 * 1024 * 1024;
const LISTS_AT_ONCE = 8;

interface Question {
  method: string;
  target: string;
  body?: JsonObject | undefined;
  authorization: readonly string[];
}

export interface UpstreamAnswer {
  status: number;
  /** Undefined when the answer was no JSON object. */
  body: JsonObject | undefined;
  retryAfter: string | undefined;
}

/** Refusals of the caller. Any other status says something about the homeserver, or about the gateway's question. */
const OF_THE_CALLER = new Set([400, 401, 403, 429]);

/** What to throw when an answer does not tell what was asked: a refusal of the caller word for word, else 502. */
export function undecided({ status, body, retryAfter }: UpstreamAnswer, message: string): Error {
  if (!OF_THE_CALLER.has(status) || typeof body?.errcode !== 'string')
    return new MatrixError(502, 'M_UNKNOWN', message);
  return new ForeignRefusal(status, body, retryAfter === undefined ? [] : ['Retry-After', retryAfter]);
}

/** Questions of the gateway's own to the upstream: none of them changes anything there. */
export class AskUpstream {
  private readonly turns = new Turns(LISTS_AT_ONCE);

  constructor(
    private readonly client: UpstreamClient,
    private readonly host: string,
    private readonly timeoutMs: number,
  ) {}

  /** A short question with the access token of a caller's request, for whom that acts. */
  as(request: MatrixRequest, method: string, path: string, body?: JsonObject): Promise<UpstreamAnswer> {
    return this.send(this.ofCaller(request, method, path, body), SHORT_BYTES);
  }

  /** A question whose answer may be long. Few are read at a time, so that nobody fills the memory with them. */
  list(request: MatrixRequest, path: string): Promise<UpstreamAnswer> {
    const question = this.ofCaller(request, 'GET', path);
    return this.turns.run(this.timeoutMs, () => this.send(question, LONG_BYTES)).catch(failUpstream);
  }

  /** Whether something is there; what it is does not matter, however long. */
  async exists(request: MatrixRequest, path: string): Promise<boolean> {
    const isThere = (status: number) => status === 200 || status === 404;
    const answer = await this.send(this.ofCaller(request, 'GET', path), SHORT_BYTES, (status) => !isThere(status));
    if (isThere(answer.status)) return answer.status === 200;
    throw undecided(answer, 'The homeserver does not say what is there.');
  }

  /** A short question of nobody's, or with a token of the gateway's own. */
  get(path: string, token?: string): Promise<UpstreamAnswer> {
    const authorization = token === undefined ? [] : ['Authorization', `Bearer ${token}`];
    return this.send({ method: 'GET', target: path, authorization }, SHORT_BYTES);
  }

  private ofCaller(request: MatrixRequest, method: string, path: string, body?: JsonObject): Question {
    const acting = new URLSearchParams(actingParameters(request)).toString();
    const target = acting === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${acting}`;
    return { method, target, body, authorization: ['Authorization', `Bearer ${request.token() ?? ''}`] };
  }

  private async send(
    { method, target, body, authorization }: Question,
    limit: number,
    wanted?: (status: number) => boolean,
  ): Promise<UpstreamAnswer> {
    const bytes = body && Buffer.from(JSON.stringify(body));
    const about = bytes ? ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)] : [];
    const headers = ['Host', this.host, 'Accept', 'application/json', ...about, ...authorization];
    const request = { method, target, headers, body: bytes, timeoutMs: this.timeoutMs, repeatable: true };
    const { answer, body: text } = await this.client.read(request, limit, wanted);
    return { status: answer.statusCode ?? 502, body: objectIn(text), retryAfter: answer.headers['retry-after'] };
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

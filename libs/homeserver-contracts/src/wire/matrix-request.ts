import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type JsonObject, MatrixError, parseJsonObject, tooDeep } from '@headgate/matrix-protocol';
import { measureJson } from './json-values.js';
import { DEFAULT_JSON_LIMIT_BYTES, MAX_JSON_VALUES } from './size-limits.js';
import { accessTokenIn, parseQuery } from './access-token.js';
import { BodyBudget } from './body-budget.js';
import { LengthLimit } from './length-limit.js';
import { ClientGone, declaredLength, readBody, requireClient, tooLarge, requestBody } from './request-body.js';

export interface MatrixRequestInit {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** The request target, byte for byte as received. */
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
  /** The query, undecoded and without its question mark. */
  readonly queryText: string;
  /** The caller's address, behind trusted proxies. */
  readonly address: string;
  /** The memory of buffered bodies; a budget of its own when left out. */
  readonly budget?: BodyBudget;
  /** The key of the per-address rates: the address, or the network that belongs to one IPv6 caller. */
  readonly source: string;
}

/** A classified request on its way through bound and handler. Its body is not read until one of them needs it. */
export class MatrixRequest {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
  readonly address: string;
  readonly source: string;
  /** Whether a bound reads the body of the response, which a gateway then buffers. */
  readsResponse = false;
  /** Whether a gateway forwards the request to its end even when the caller hangs up, as it does bounded operations. */
  outlivesCaller = false;
  /** Its body is the form that its endpoint takes. Other endpoints take JSON, whatever the request says. */
  hasForm = false;
  private readonly queryText: string;
  private readonly budget: BodyBudget;
  private body?: Promise<Buffer>;
  private parsedQuery?: URLSearchParams;
  private maxStreamBytes?: number;

  constructor({ raw, response, target, params, queryText, address, source, budget }: MatrixRequestInit) {
    this.raw = raw;
    this.response = response;
    this.target = target;
    this.params = params;
    this.queryText = queryText;
    this.address = address;
    this.source = source;
    this.budget = budget ?? new BodyBudget();
  }

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  get query(): URLSearchParams {
    return (this.parsedQuery ??= parseQuery(this.queryText));
  }

  /** Whether the query has this parameter, with any encoding of its name. */
  hasQuery(name: string): boolean {
    return this.queryText !== '' && this.query.has(name);
  }

  param(name: string): string {
    return this.params[name] ?? '';
  }

  /**
   * The caller's access token: from the header, else from the query.
   * @throws MatrixError when the request carries two different ones, of which another server might take the other
   */
  token(): string | undefined {
    return accessTokenIn(this.raw.rawHeaders, this.query);
  }

  /**
   * The whole body; later calls return the same bytes.
   * @param inspect receives each chunk as it arrives, and may throw to refuse the body
   * @throws MatrixError M_TOO_LARGE beyond `limit` bytes, 503 when the budget of all bodies is exhausted
   */
  bytes(limit: number, inspect?: (chunk: Buffer) => void): Promise<Buffer> {
    const { budget } = this;
    return (this.body ??= readBody(this.raw, this.response, { limit, budget, inspect }));
  }

  /**
   * Limits the body as a stream to `limit` bytes.
   * @throws MatrixError M_TOO_LARGE immediately when the request declares more
   */
  limitStream(limit: number): void {
    if ((declaredLength(this.raw) ?? 0) > limit) throw tooLarge(limit);
    this.maxStreamBytes = limit;
  }

  /** The body as a stream. It fails with M_TOO_LARGE beyond its limit. @throws ClientGone */
  stream(): Readable {
    requireClient(this.raw);
    requestBody(this.raw, this.response);
    if (this.maxStreamBytes === undefined) return this.raw;
    const limited = new LengthLimit(this.maxStreamBytes);
    // The caller may hang up before the consumer of the stream listens for errors.
    limited.on('error', () => undefined);
    this.raw.once('error', () => limited.destroy(new ClientGone()));
    this.raw.once('close', () => {
      if (!this.raw.complete) limited.destroy(new ClientGone());
    });
    return this.raw.pipe(limited);
  }

  /** Whether the request has a body, as its headers declare. */
  get hasBody(): boolean {
    return this.raw.headers['transfer-encoding'] !== undefined || (declaredLength(this.raw) ?? 0) > 0;
  }

  /** Whether the body has been read, so that it is in memory and no longer on the wire. */
  get bodyWasRead(): boolean {
    return this.body !== undefined;
  }

  /** @throws MatrixError M_TOO_LARGE for a body of more than `limit` bytes or `maxValues` values */
  async json(
    limit = DEFAULT_JSON_LIMIT_BYTES,
    { optional = false, maxValues = MAX_JSON_VALUES } = {},
  ): Promise<JsonObject> {
    const bytes = await this.bytes(limit);
    const size = measureJson(bytes, maxValues);
    if (size === 'too deep') throw tooDeep();
    if (size === 'too many values') {
      throw MatrixError.tooLarge(`The body has more than ${maxValues} values, the maximum for this endpoint.`);
    }
    return parseJsonObject(bytes, { optional });
  }

  /**
   * The body for a decision that does not depend on bodies of many values; undefined for such a body, which is not
   * parsed.
   */
  async jsonOfFewValues(): Promise<JsonObject | undefined> {
    const bytes = await this.bytes(DEFAULT_JSON_LIMIT_BYTES);
    const size = measureJson(bytes, MAX_JSON_VALUES);
    if (size === 'too deep') throw tooDeep();
    return size === 'fits' ? parseJsonObject(bytes) : undefined;
  }

  /** A header as received. @param name in lower case */
  header(name: string): string | undefined {
    const { rawHeaders } = this.raw;
    for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) return rawHeaders[i + 1];
    return undefined;
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type JsonObject, MatrixError, parseJsonObject } from '@headgate/matrix-protocol';
import { LengthLimit } from './length-limit.js';
import { ClientGone, declaredLength, readBody, requireClient, tooLarge, wantBody } from './request-body.js';

/** A request on its way through bounds and handler: classified, its body unread until somebody asks for it. */
export class MatrixRequest {
  private body?: Promise<Buffer>;
  private parsedQuery?: URLSearchParams;
  private streamLimit?: number;

  constructor(
    readonly raw: IncomingMessage,
    readonly response: ServerResponse,
    /** The request target, byte for byte as received. */
    readonly target: string,
    readonly params: Readonly<Record<string, string>>,
    private readonly queryText: string,
    /** The caller's address behind the proxies we trust. */
    readonly address: string,
    /** What the per-address rates count by: the address, or the network that one IPv6 caller owns. */
    readonly source: string,
  ) {}

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  /** The query's parameters. Some servers part them at `;` too, so here they are as well. */
  get query(): URLSearchParams {
    return (this.parsedQuery ??= new URLSearchParams(`&${this.queryText.replaceAll(';', '&')}`));
  }

  /** Whether the query has this parameter, however its name is spelt. */
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
    const tokens = new Set([...this.headerTokens(), ...this.query.getAll('access_token')]);
    if (tokens.size > 1) throw MatrixError.invalidParam('The request carries two different access tokens.');
    return [...tokens][0];
  }

  /** The whole body; later calls answer the same bytes. @throws MatrixError M_TOO_LARGE beyond `limit` bytes */
  bytes(limit: number): Promise<Buffer> {
    return (this.body ??= readBody(this.raw, this.response, limit));
  }

  /**
   * Lets whoever streams the body have `limit` bytes of it.
   * @throws MatrixError M_TOO_LARGE at once when the request declares more
   */
  limitStream(limit: number): void {
    if ((declaredLength(this.raw) ?? 0) > limit) throw tooLarge(limit);
    this.streamLimit = limit;
  }

  /** The body as it arrives. It ends with M_TOO_LARGE where it grows beyond its limit. @throws ClientGone */
  stream(): Readable {
    requireClient(this.raw);
    wantBody(this.raw, this.response);
    if (this.streamLimit === undefined) return this.raw;
    const limited = new LengthLimit(this.streamLimit);
    // Whoever takes the stream may not listen to it yet when the caller hangs up.
    limited.on('error', () => undefined);
    this.raw.once('error', () => limited.destroy(new ClientGone()));
    this.raw.once('close', () => {
      if (!this.raw.complete) limited.destroy(new ClientGone());
    });
    return this.raw.pipe(limited);
  }

  /** Whether somebody has read the body, so that it is in memory and no longer on the wire. */
  get bodyWasRead(): boolean {
    return this.body !== undefined;
  }

  async json(limit = DEFAULT_JSON_LIMIT, { optional = false } = {}): Promise<JsonObject> {
    return parseJsonObject(await this.bytes(limit), { optional });
  }

  /** A header as it came, whatever the framework made of it. @param name in lower case */
  header(name: string): string | undefined {
    const { rawHeaders } = this.raw;
    for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) return rawHeaders[i + 1];
    return undefined;
  }

  private *headerTokens(): Generator<string> {
    const { rawHeaders } = this.raw;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i]?.toLowerCase() !== 'authorization') continue;
      const bearer = /^Bearer[ ]+(\S+)[ ]*$/i.exec(rawHeaders[i + 1] ?? '');
      if (bearer?.[1]) yield bearer[1];
    }
  }
}

/** No event and no set of keys that a client sends in one request is bigger. */
export const DEFAULT_JSON_LIMIT = 1024 * 1024;

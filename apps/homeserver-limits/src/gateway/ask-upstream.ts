import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { actingParameters } from './acting-for.js';
import { bodyOf } from './body-of.js';
import type { UpstreamClient } from './upstream-client.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface UpstreamAnswer {
  status: number;
  /** Undefined when the answer was no JSON object. */
  body: JsonObject | undefined;
}

/** Questions of the gateway's own to the upstream. */
export class AskUpstream {
  constructor(
    private readonly client: UpstreamClient,
    private readonly host: string,
    private readonly timeoutMs: number,
  ) {}

  /** With the access token of a caller's request, for whom that acts. */
  async as(request: MatrixRequest, method: string, path: string, body?: JsonObject): Promise<UpstreamAnswer> {
    const acting = new URLSearchParams(actingParameters(request)).toString();
    const target = acting === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${acting}`;
    return this.send(method, target, body, ['Authorization', `Bearer ${request.token() ?? ''}`]);
  }

  async get(path: string): Promise<UpstreamAnswer> {
    return this.send('GET', path, undefined, []);
  }

  private async send(
    method: string,
    target: string,
    body: JsonObject | undefined,
    authorization: readonly string[],
  ): Promise<UpstreamAnswer> {
    const bytes = body && Buffer.from(JSON.stringify(body));
    const about = bytes ? ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)] : [];
    const headers = ['Host', this.host, 'Accept', 'application/json', ...about, ...authorization];
    const answer = await this.client.send({ method, target, headers, body: bytes, timeoutMs: this.timeoutMs });
    return { status: answer.statusCode ?? 502, body: objectIn(await bodyOf(answer, MAX_ANSWER_BYTES)) };
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

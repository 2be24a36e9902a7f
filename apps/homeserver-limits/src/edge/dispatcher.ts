import type { IncomingMessage, ServerResponse } from 'node:http';
import { MatrixError } from '@headgate/matrix-protocol';
import type { Logger } from 'pino';
import type { Bounds } from '../bounds/bounds.js';
import type { Classified, PathTable } from '../classify/path-table.js';
import type { EmbeddedOperation } from '../embedded/embedded-operations.js';
import type { Homeserver } from '../homeserver/homeserver.port.js';
import { type Answer, writeAnswer } from '../wire/answer.js';
import { errorAnswer } from '../wire/error-answer.js';
import { MatrixRequest } from '../wire/matrix-request.js';
import { ClientGone, drain } from '../wire/request-body.js';
import type { CallerAddress } from './caller-address.js';

/** The way of a request: what is it, may it, and then the homeserver behind answers. */
export class Dispatcher {
  constructor(
    private readonly table: PathTable<EmbeddedOperation>,
    private readonly bounds: Bounds,
    private readonly homeserver: Homeserver,
    private readonly addresses: CallerAddress,
    private readonly log: Logger,
  ) {}

  async dispatch(raw: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const answer = await this.answer(raw, response, target).catch((error: unknown) => this.refusal(error, raw, target));
    if (!answer) return;
    if (response.destroyed) return drop(answer);
    // A refusal comes before the body has been read; the client must get to see it all the same.
    if (Buffer.isBuffer(answer.body)) drain(raw);
    await writeAnswer(response, answer).catch(() => response.destroy());
    // The upstream may answer without having read all of the body; what is left would hold up the connection.
    if (!Buffer.isBuffer(answer.body)) drain(raw);
  }

  /**
   * Whether a request may leave HTTP for a WebSocket. Nothing that the table knows may: it would go past its bound. Other
   * protocols could carry whole requests past everything (h2c does); servers may ignore them, and so they are ignored.
   */
  mayUpgrade({ method = '', url = '', headers }: IncomingMessage): boolean {
    const webSocket = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
    return webSocket && this.table.classify(method, url).kind === 'unknown';
  }

  private answer(raw: IncomingMessage, response: ServerResponse, target: string): Promise<Answer> {
    const method = raw.method === 'HEAD' ? 'GET' : (raw.method ?? 'GET');
    const classified = this.table.classify(method, target);
    if (classified.kind === 'ambiguous') return Promise.reject(MatrixError.unrecognized());
    const request = this.requestOf(raw, response, target, classified);
    if (raw.method === 'OPTIONS') return this.homeserver.preflight(request);
    if (classified.kind === 'unknown') {
      return this.homeserver.answerUnknown(request, () => this.table.methodsOf(classified.target));
    }
    const { operation } = classified.match;
    const next = () => this.homeserver.answer(request, operation);
    const bound = this.bounds[operation as keyof Bounds];
    return bound ? bound.run(request, next) : next();
  }

  private requestOf(
    raw: IncomingMessage,
    response: ServerResponse,
    target: string,
    classified: Exclude<Classified<EmbeddedOperation>, { kind: 'ambiguous' }>,
  ): MatrixRequest {
    const { address, source } = this.addresses.of(raw);
    const params = classified.kind === 'matched' ? classified.match.params : {};
    return new MatrixRequest(raw, response, target, params, classified.target.query, address, source);
  }

  private refusal(error: unknown, raw: IncomingMessage, target: string): Answer | undefined {
    if (error instanceof ClientGone || (raw.destroyed && !raw.complete)) return undefined;
    const answer = errorAnswer(error);
    if (answer.status >= 500) this.logFailure(error, answer.status, withoutSecrets(target));
    return answer;
  }

  private logFailure(error: unknown, status: number, path: string): void {
    if (status === 502 || status === 504) this.log.warn({ err: error, path }, 'the upstream failed');
    else this.log.error({ err: error, path }, 'a request failed');
  }
}

/** The path for the log: no query, and no id of a delayed event, which alone is enough to decide about it. */
const withoutSecrets = (target: string): string =>
  (target.split('?', 1)[0] ?? '').replace(/(delayed_events\/+)[^/]+/, '$1…');

/** Nobody is there for an answer: what still comes of it would only hold its connection. */
function drop({ body }: Answer): void {
  if (!Buffer.isBuffer(body)) body.destroy();
}

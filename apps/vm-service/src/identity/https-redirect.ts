import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ChallengeAnswers } from '@headgate/acme';
import { ConfigError, ListenAddress } from '@headgate/nest-kit';
import type { Settings } from '../config/load-config.js';
import { errorBody } from '../platform/domain-error.filter.js';
import { HttpListener } from '../platform/http-listener.js';
import { SETTINGS } from '../platform/tokens.js';
import { EdgePolicy, hostName } from './edge-policy.js';
import { READS } from './edge.guard.js';

const REQUEST_TIMEOUT_MS = 10_000;
const HTTPS_PORT = 443;
const CHALLENGES = '/.well-known/acme-challenge/';

/** A listener that speaks plain HTTP and leads browsers to the service. It handles no request itself. */
@Injectable()
export class HttpsRedirect implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private server: Server | undefined;

  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'tls'>,
    private readonly policy: EdgePolicy,
    private readonly listener: HttpListener,
    private readonly challenges: ChallengeAnswers,
  ) {}

  /** The port that it listens on; undefined without a redirect. */
  get port(): number | undefined {
    const address = this.server?.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  async onApplicationBootstrap(): Promise<void> {
    const from = this.settings.tls?.redirectFrom;
    if (from === undefined) return;
    this.server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, this.answer);
    const { host, port } = ListenAddress.parse(from);
    this.server.listen(port, host);
    await once(this.server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
      throw new ConfigError('the configuration', [`tls.redirectFrom: the service can't listen on ${from} (${code})`]);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (!server?.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  private readonly answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (this.settings.tls?.acme && request.url?.startsWith(CHALLENGES)) return this.answerChallenge(request, response);
    // Only our own names, or a link could lead anywhere.
    try {
      this.policy.checkHost(request.headers);
    } catch (error) {
      return refuse(response, errorBody(error));
    }
    if (!READS.includes(request.method ?? '')) return refuse(response, NO_CHANGES);
    const host = hostName(request.headers.host ?? '');
    const { port } = this.listener;
    const path = request.url?.startsWith('/') ? request.url : '/';
    const location = `https://${host}${port === HTTPS_PORT ? '' : `:${port}`}${path}`;
    response.writeHead(308, { location, connection: 'close', 'content-length': 0 }).end();
  };

  /** The authority asks here whether a name leads to the service. Source: RFC 8555, 8.3. */
  private answerChallenge({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const text = this.challenges.answer(hostName(headers.host ?? ''), url.slice(CHALLENGES.length));
    if (text === undefined || !READS.includes(method)) return refuse(response, NO_CHALLENGE);
    response
      .writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': Buffer.byteLength(text),
        connection: 'close',
      })
      .end(text);
  }
}

/** A change has sent its token and its data in the clear already: a redirect would hide that. */
const NO_CHANGES = {
  status: 403,
  body: { error: 'This port leads to HTTPS only. Send requests to the HTTPS address.', code: 'NOT_PERMITTED' },
};

const NO_CHALLENGE = { status: 404, body: { error: 'There is no such challenge.', code: 'PATH_NOT_FOUND' } };

function refuse(response: ServerResponse, { status, body }: { status: number; body: object }): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    })
    .end(text);
}

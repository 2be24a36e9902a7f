import { ModulesContainer, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { edgeAdapter, ListenAddress, PinoNestLogger, ShuttingDownError } from '@headgate/nest-kit';
import { PathWsAdapter } from '@headgate/nest-kit/websockets';
import { AppModule } from './app.module.js';
import { ConsoleRequests } from './consoles/console-request.js';
import { refuseUpgrade } from './consoles/upgrade-refusal.js';
import { keepAnswers } from './idempotency/keep-answers.js';
import { bearerToken } from './identity/bearer-token.js';
import { EdgePolicy } from './identity/edge-policy.js';
import { expectNeeds } from './identity/expect-needs.js';
import { routesOf } from './identity/routes.js';
import { recordRequests } from './journal/record-requests.js';
import { SocketRecorder } from './journal/socket-recorder.js';
import { errorBody } from './platform/domain-error.filter.js';
import { HttpListener } from './platform/http-listener.js';
import { openCertificate } from './platform/open-certificate.js';
import { refuseEarly } from './platform/refuse-early.js';
import { acceptJsonOnly } from './platform/json-body.js';
import type { AppDeps } from './platform/tokens.js';
import { PortRequests } from './ports/port-request.js';
import type { Settings } from './config/load-config.js';

/** The largest body is a creation with cloud-init user data. */
const MAX_BODY_BYTES = 1_048_576;
const REQUEST_TIMEOUT_MS = 30_000;
/** No path is longer, as all headers together have this bound. Each route refuses a name that is too long itself. */
const MAX_PARAMETER_CHARS = 16_384;
/** The largest message on a console socket is a pasted clipboard. */
const MAX_CONSOLE_MESSAGE_BYTES = 1_048_576;

const HTTPS_PORT = 443;
/** 180 days. */
const HSTS_SECONDS = 15_552_000;

/** The service, as main and the tests run it. */
export interface Service {
  readonly app: NestFastifyApplication;
  /**
   * Listens, then opens the store and the backends.
   * @throws Error when the address is in use or the registry can't be opened
   */
  start(): Promise<void>;
  /** The port that it listens on. */
  port(): number;
  close(): Promise<void>;
}

/** @throws ConfigError when the files of the certificate can't be used */
export async function createService(deps: AppDeps): Promise<Service> {
  let isShuttingDown = false;
  const { settings } = deps;
  const certificate = await openCertificate(settings);
  const adapter = edgeAdapter({
    bodyBytes: MAX_BODY_BYTES,
    requestMs: REQUEST_TIMEOUT_MS,
    parameterLength: MAX_PARAMETER_CHARS,
    refuse: (error) => errorBody(error),
    isShuttingDown: () => isShuttingDown,
    tls: certificate.tls?.current,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...deps, ...certificate }),
    adapter,
    {
      logger: new PinoNestLogger(deps.log),
      bodyParser: false,
      abortOnError: false,
    },
  );
  expectNeeds(routesOf(app.get(ModulesContainer)));
  acceptJsonOnly(app);
  refuseEarly(app);
  keepAnswers(app);
  recordRequests(app, deps.log);
  addCommonHeaders(app, asksForHttps(settings));
  const edge = app.get(EdgePolicy);
  const consoles = app.get(ConsoleRequests);
  const ports = app.get(PortRequests);
  const sockets = new SocketRecorder(app);
  app.useWebSocketAdapter(
    new PathWsAdapter(app, {
      guard: async (request) => {
        try {
          if (isShuttingDown) throw new ShuttingDownError();
          edge.checkHost(request.headers);
          if (bearerToken(request.headers) === undefined) edge.checkOrigin(request.headers);
          if (PortRequests.isOne(request)) sockets.openedPort(await ports.admit(request));
          else sockets.opened(await consoles.admit(request));
        } catch (error) {
          sockets.refused(request, error);
          throw error;
        }
      },
      refuse: refuseUpgrade,
      maxPayload: MAX_CONSOLE_MESSAGE_BYTES,
    }),
  );
  return {
    app,
    start: async () => void (await app.init()),
    port: () => app.get(HttpListener).port,
    close: () => {
      isShuttingDown = true;
      return app.close();
    },
  };
}

/** A browser applies the header to all ports of the host, which may have other services. */
const asksForHttps = ({ tls, listen }: Settings): boolean =>
  tls !== undefined && (tls.hsts ?? ListenAddress.parse(listen).port === HTTPS_PORT);

/** Adds the headers that every response has. */
function addCommonHeaders(app: NestFastifyApplication, hasHsts: boolean): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      void reply.headers({
        'x-request-id': request.id,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        ...(hasHsts && { 'strict-transport-security': `max-age=${HSTS_SECONDS}` }),
      });
      done();
    });
}

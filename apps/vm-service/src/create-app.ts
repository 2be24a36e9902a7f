import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConsoleBroker } from '@headgate/consoles';
import { BackendDirectory } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { edgeAdapter, PinoNestLogger } from '@headgate/nest-kit';
import { PathWsAdapter } from '@headgate/nest-kit/websockets';
import { TaskBoard } from '@headgate/tasks';
import { AppModule, type AppParts } from './app.module.js';
import { Registry } from './composition/registry.js';
import { ConsoleRequests } from './consoles/console-request.js';
import { refuseUpgrade } from './consoles/upgrade-refusal.js';
import { MetricsSnapshot } from './exposition/metrics-snapshot.js';
import { EdgePolicy } from './identity/edge-policy.js';
import { EventStreams } from './instances/event-stream.js';
import { errorBody } from './platform/domain-error.filter.js';
import { acceptJsonOnly } from './platform/json-body.js';

/** Largest request body, in bytes: cloud-init user data is the largest thing that is sent. */
const BODY = 1_048_576;
/** How long a client may take to send a request, in milliseconds. */
const REQUEST = 30_000;
/** Largest message on a console socket, in bytes: a pasted clipboard. */
const CONSOLE_MESSAGE = 1_048_576;

/** The service without its listener, as main and the tests run it. */
export interface Service {
  readonly app: NestFastifyApplication;
  listen(host: string, port: number): Promise<void>;
  /** The port that it listens on. */
  port(): number;
  close(): Promise<void>;
}

export async function createService(parts: AppParts): Promise<Service> {
  const adapter = edgeAdapter({
    bodyBytes: BODY,
    requestMs: REQUEST,
    parameterLength: 300,
    refuse: (error) => errorBody(error),
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(parts), adapter, {
    logger: new PinoNestLogger(parts.log),
    bodyParser: false,
    abortOnError: false,
  });
  acceptJsonOnly(app);
  answerWithHeaders(app);
  const edge = app.get(EdgePolicy);
  const consoles = app.get(ConsoleRequests);
  app.useWebSocketAdapter(
    new PathWsAdapter(app, {
      guard: (request) => {
        edge.checkHost(request.headers);
        edge.checkOrigin(request.headers);
        consoles.admit(request);
      },
      refuse: refuseUpgrade,
      maxPayload: CONSOLE_MESSAGE,
    }),
  );
  await app.init();
  return {
    app,
    listen: (host, port) => open(app, parts, host, port),
    port: () => (app.getHttpServer().address() as AddressInfo).port,
    close: () => close(app, parts),
  };
}

/** Listens first, then opens the store and the backends: a probe has an answer from the first moment on. */
async function open(app: NestFastifyApplication, { settings }: AppParts, host: string, port: number): Promise<void> {
  // Not through Nest, which would log a port in use beside the one sentence that main says of it.
  await app.getHttpAdapter().getInstance().listen({ host, port });
  app.get(Registry).open();
  app.get(TaskBoard).recover();
  const fleet = app.get(Fleet);
  for (const backend of app.get(BackendDirectory).all()) fleet.attach(backend);
  if (settings.metrics) app.get(MetricsSnapshot).start();
}

/** Ends in the order of dependence: those who look, what runs, what is read, what was opened. Guests go on. */
async function close(app: NestFastifyApplication, { contexts }: AppParts): Promise<void> {
  app.get(MetricsSnapshot).stop();
  app.get(EventStreams).close();
  app.get(ConsoleBroker).close();
  await app.get(TaskBoard).close();
  await app.close();
  await app.get(Fleet).close();
  await Promise.all(
    app
      .get(BackendDirectory)
      .all()
      .map((backend) => backend.close()),
  );
  await contexts.close();
  app.get(Registry).close();
}

/** What every answer carries. */
function answerWithHeaders(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      void reply.headers({
        'x-request-id': request.id,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
      done();
    });
}

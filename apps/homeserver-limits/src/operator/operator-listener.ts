import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { MatrixErrorFilter, toMatrixError } from '@headgate/limits-nest';
import { edgeAdapter, ListenAddress } from '@headgate/nest-kit';
import { type BeforeApplicationShutdown, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { explainListenFailure } from '../config/listen-failure.js';
import type { AddressBlocks } from '../state/address-blocks.js';
import { LiveConfig } from '../config/live-config.js';
import { DecisionHistory } from '../metrics/decision-history.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { RecentRequests } from '../reports/recent-requests.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { Proposals } from '../replay/proposal.js';
import { StartLogger } from '../start-logger.js';
import { OperatorJournal } from '../state/operator-journal.js';
import { Overrides } from '../state/overrides.js';
import { OperatorController } from './operator.controller.js';
import { OverrideLog, OverridesController } from './overrides.controller.js';
import { DeskController } from './desk.controller.js';
import { DeskDataController } from './desk-data.controller.js';
import { DeskFiles, SECURITY_HEADERS } from './desk-files.js';
import { Explanations } from './explanations.js';
import { Lifts } from './lifts.js';
import { BlockExport } from './block-export.js';
import { BouncerController } from './bouncer.controller.js';
import type { NamedTokens } from './named-tokens.js';
import { OperatorGuard } from './operator.guard.js';
import { ProbesController, Readiness } from './probes.controller.js';
import { RefusalStream } from './refusal-stream.js';

const REQUEST_TIMEOUT_MS = 30_000;
/** More than an override takes. */
const MAX_BODY_BYTES = 1024;
/** Of proposed rules. */
const MAX_PROPOSAL_BYTES = 64 * 1024;
const MAX_PARAMETER_CHARACTERS = 100;

export interface OperatorListenerDeps {
  /** HOST:PORT. */
  listen: string;
  /** The bearer tokens of callers by the names of operators. Without any, the listener is on a loopback address. */
  tokens?: NamedTokens;
  /** The blocks of addresses, if they are exported. */
  blocks?: AddressBlocks | undefined;
  /** The keys of bouncers by their names. */
  bouncers?: NamedTokens;
  /** Knows the rates by name. */
  windows: MemoryRateLimiter;
  /** Where the rates count: the windows, or those that several gateways share. */
  store: RateLimiter;
  ledger: CapLedger;
  refusals: RefusalLog;
  overrides: Overrides;
  /** What operators did. */
  journal: OperatorJournal;
  recent: RecentRequests;
  history: DecisionHistory;
  /** Where the page is; next to the program when left out. */
  deskFiles?: DeskFiles;
  /** The rules in force. */
  config: LiveConfig;
  metrics: LimitsMetrics;
  readiness: Readiness;
  log: Logger;
}

@Module({})
class OperatorApiModule {}

/**
 * The operator's API on a listener of its own, away from clients: a second Nest application over the providers of the
 * first.
 */
export class OperatorListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private app?: NestFastifyApplication;
  private readonly stream: RefusalStream;
  url?: string;

  constructor(private readonly deps: OperatorListenerDeps) {
    this.stream = new RefusalStream(deps.refusals);
  }

  onApplicationBootstrap(): Promise<void> {
    return this.listen();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async listen(): Promise<void> {
    const { listen, tokens, windows, store, ledger, refusals, overrides, config, metrics, readiness, log } = this.deps;
    const { journal, recent, history, deskFiles = new DeskFiles(), blocks, bouncers } = this.deps;
    const lifts = new Lifts(windows, store, journal, blocks);
    const address = ListenAddress.parse(listen);
    const module = {
      module: OperatorApiModule,
      controllers: [
        ProbesController,
        DeskController,
        DeskDataController,
        OverridesController,
        BouncerController,
        OperatorController,
      ],
      providers: [
        { provide: MemoryRateLimiter, useValue: windows },
        { provide: RateLimiter, useValue: store },
        { provide: CapLedger, useValue: ledger },
        { provide: RefusalLog, useValue: refusals },
        { provide: Overrides, useValue: overrides },
        { provide: LiveConfig, useValue: config },
        { provide: OperatorJournal, useValue: journal },
        { provide: DecisionHistory, useValue: history },
        { provide: DeskFiles, useValue: deskFiles },
        { provide: Lifts, useValue: lifts },
        { provide: BlockExport, useValue: new BlockExport(blocks, bouncers) },
        {
          provide: Explanations,
          useValue: new Explanations(windows, store, config, overrides, recent, refusals),
        },
        { provide: RefusalStream, useValue: this.stream },
        { provide: Proposals, useValue: new Proposals(() => config.current.log.requests_file) },
        { provide: OverrideLog, useValue: log },
        { provide: LimitsMetrics, useValue: metrics },
        { provide: Readiness, useValue: readiness },
        { provide: APP_GUARD, useValue: new OperatorGuard(tokens) },
        { provide: APP_FILTER, useClass: MatrixErrorFilter },
      ],
    };
    this.app = await NestFactory.create<NestFastifyApplication>(module, operatorAdapter(), {
      logger: new StartLogger(log),
      abortOnError: false,
    });
    // Before Fastify, whose hooks are not called for paths that it can't decode.
    this.server.prependListener('request', (_request, response: ServerResponse) => {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    });
    await explainListenFailure('operator.listen', listen, this.app.listen(address.port, address.host));
    this.url = address.urlOn((this.server.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    if (!this.app) return;
    this.stream.close();
    this.server.closeAllConnections();
    await this.app.close();
  }

  private get server(): Server {
    return this.app!.getHttpServer();
  }
}

function operatorAdapter(): FastifyAdapter {
  const adapter = edgeAdapter({
    bodyBytes: MAX_BODY_BYTES,
    requestMs: REQUEST_TIMEOUT_MS,
    parameterLength: MAX_PARAMETER_CHARACTERS,
    refuse: (error) => {
      const refusal = toMatrixError(error);
      return { status: refusal.status, body: refusal.body() };
    },
  });
  adapter.getInstance().addHook('onRoute', (route) => {
    if (route.url === '/replay') route.bodyLimit = MAX_PROPOSAL_BYTES;
  });
  return adapter;
}

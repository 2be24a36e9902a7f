import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CapLedger, MemoryRateLimiter } from '@headgate/limits-core';
import { MatrixErrorFilter } from '@headgate/limits-nest';
import { ConfigError, PinoNestLogger } from '@headgate/nest-kit';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { type Backend, embeddedBackend, gatewayBackend } from './backend.js';
import { makeBounds } from './bounds/bounds.js';
import { Caps } from './bounds/caps.js';
import { Rates } from './bounds/rates.js';
import { boundedOperations } from './classify/bounded-operations.js';
import { PathTable } from './classify/path-table.js';
import { hostAndPort, isOurself } from './config/listen-address.js';
import type { LiveConfig } from './config/live-config.js';
import { CallerAddress } from './edge/caller-address.js';
import { Dispatcher } from './edge/dispatcher.js';
import { matrixAdapter } from './edge/matrix-adapter.js';
import { type EmbeddedOperation, embeddedOperations } from './embedded/embedded-operations.js';
import { LimitsMetrics } from './metrics/limits-metrics.js';
import { OperatorApi } from './operator/operator-api.js';
import { OperatorServer } from './operator/operator-server.js';
import { DataFolder } from './state/data-folder.js';
import { NoticedWindows } from './state/noticed-windows.js';
import type { SharedStore } from './state/shared-store.js';
import { WindowStateFile } from './state/window-state-file.js';

/** What is still under way when the server ends gets this long. */
const DRAIN_MS = 3_000;

/** The whole application, in the mode that its configuration asks for. */
export class LimitsServer {
  private readonly folder: DataFolder;
  private readonly backend: Backend;
  private readonly state: WindowStateFile;
  private readonly rates: Rates;
  private readonly caps: Caps;
  private readonly operator?: OperatorServer;
  private readonly dispatcher: Dispatcher;
  private readonly metrics: LimitsMetrics;
  private app?: NestFastifyApplication;

  static async make(config: LiveConfig, dataDir: string, log: Logger): Promise<LimitsServer> {
    const { shared } = config.current;
    const windows = new MemoryRateLimiter();
    if (shared.url === undefined) return new LimitsServer(config, dataDir, log, windows);
    // Its client takes memory that most servers can do without.
    const { SharedStore } = await import('./state/shared-store.js');
    return new LimitsServer(config, dataDir, log, windows, new SharedStore(shared.url, shared, windows, log));
  }

  private constructor(
    private readonly config: LiveConfig,
    dataDir: string,
    private readonly log: Logger,
    windows: MemoryRateLimiter,
    private readonly shared?: SharedStore,
  ) {
    const { server, gateway, operator } = config.current;
    if (gateway.upstream !== undefined && isOurself(gateway.upstream, server.listen)) {
      throw new ConfigError('configuration', ['gateway.upstream is this gateway itself']);
    }
    this.folder = DataFolder.claim(dataDir);
    this.state = new WindowStateFile(windows, dataDir, log);
    const store = new NoticedWindows(shared?.windows ?? windows, this.state.changed);
    const ledger = new CapLedger();
    const addresses = new CallerAddress(server.trusted_proxies, server.ipv6_prefix);
    this.metrics = new LimitsMetrics(windows);
    const { watch } = this.metrics;
    this.rates = new Rates(store, config, watch);
    this.backend =
      gateway.upstream === undefined
        ? embeddedBackend(config, dataDir)
        : gatewayBackend(gateway.upstream, config, dataDir, addresses, () => this.caps, log);
    this.caps = new Caps(ledger, config, this.backend.freshness, { watch });
    const { identity, holdings, homeserver } = this.backend;
    const bounds = makeBounds({ config, rates: this.rates, caps: this.caps, identity, holdings, log, watch });
    const routes = this.embedded ? embeddedOperations : boundedOperations;
    this.dispatcher = new Dispatcher(new PathTable<EmbeddedOperation>(routes), bounds, homeserver, addresses, log);
    if (this.embedded) this.metrics.showPasswords(this.backend.passwordVerifications);
    if (shared) this.metrics.showShared(shared.inUse);
    if (operator.listen !== undefined) {
      this.operator = new OperatorServer(new OperatorApi(windows, store, ledger), operator.listen, operator.token);
    }
  }

  get embedded(): boolean {
    return this.config.current.gateway.upstream === undefined;
  }

  /** @returns the URL under which it listens */
  async start(): Promise<string> {
    await this.state.restore();
    await this.shared?.start();
    const app = await NestFactory.create<NestFastifyApplication>(
      AppModule.over(this.dispatcher, this.metrics),
      matrixAdapter((request) => this.backend.upgrades !== undefined && this.dispatcher.mayUpgrade(request)),
      { logger: new PinoNestLogger(this.log), bodyParser: false },
    );
    app.useGlobalFilters(new MatrixErrorFilter());
    this.app = app;
    await app.init();
    const server: Server = app.getHttpServer();
    server.on('upgrade', (request, socket, head) => this.backend.upgrades?.handle(request, socket, head));
    const { host, port } = hostAndPort(this.config.current.server.listen);
    await app.listen(port, host);
    await this.operator?.listen();
    this.backend.start();
    this.state.start();
    const { port: bound } = server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  }

  /** Where the operator's API listens, if it does. */
  get operatorUrl(): string | undefined {
    return this.operator?.url;
  }

  async reload(): Promise<void> {
    if (!(await this.config.reload())) return;
    this.rates.reconfigure();
    this.caps.reconfigure();
  }

  /** Ends: no new connections, those at work get a moment, the windows are written. */
  async close(): Promise<void> {
    const server: Server | undefined = this.app?.getHttpServer();
    const cut = setTimeout(() => server?.closeAllConnections(), DRAIN_MS);
    await this.operator?.close();
    await this.app?.close();
    clearTimeout(cut);
    this.backend.close();
    await this.shared?.close();
    await this.state.stop();
    this.folder.release();
  }
}

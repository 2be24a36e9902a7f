import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MatrixErrorFilter } from '@headgate/limits-nest';
import { ConfigError, ListenAddress } from '@headgate/nest-kit';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, hasRelay, loadHomeserverModule } from './app.module.js';
import { explainListenFailure } from './config/listen-failure.js';
import { pointsTo } from './config/points-to.js';
import { ReloadConfig } from './rules/reload-config.js';
import type { Settings } from './config/settings.module.js';
import type { Config } from './config/config.js';
import { ConnectionLimit } from './edge/connection-limit.js';
import { Dispatcher } from './edge/dispatcher.js';
import { dispatchDirectly } from './edge/direct-dispatch.js';
import { DenyFiles } from './deny/deny-files.js';
import { DenyGate } from './deny/deny-gate.js';
import { DenyLists } from './deny/deny-lists.js';
import { CallerAddress } from './edge/caller-address.js';
import { HandedConnections } from './edge/handed-connections.js';
import { matrixAdapter } from './edge/matrix-adapter.js';
import { LimitsMetrics } from './metrics/limits-metrics.js';
import { HeldCounts } from './rules/remote-caps.js';
import { UpgradeProxy } from './gateway/upgrade-proxy.js';
import { OperatorListener } from './operator/operator-listener.js';
import { GatewayRelay } from './relay/gateway-relay.js';
import { StartLogger } from './start-logger.js';

/** The application in the mode that its configuration selects. */
export class LimitsApplication {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly settings: Settings,
    private readonly handed: HandedConnections,
  ) {}

  /** Creates every provider. Nothing listens yet. @throws ConfigError */
  static async create(settings: Settings): Promise<LimitsApplication> {
    refuseLoops(settings.config.current);
    const { gateway, operator } = settings.config.current;
    const handed = new HandedConnections();
    let upgrades: UpgradeProxy | undefined;
    let isDenied: (request: IncomingMessage) => boolean = () => false;
    const app = await NestFactory.create<NestFastifyApplication>(
      AppModule.forRoot(settings, await loadHomeserverModule(settings)),
      matrixAdapter({
        // A denied one is a request without an upgrade, which is refused.
        mayUpgrade: (request) => (upgrades?.accepts(request) ?? false) && !isDenied(request),
        // The operator's listener has them, away from clients.
        hasMetrics: operator.listen === undefined,
        ...(settings.main && { drained: () => handed.drained() }),
      }),
      { logger: new StartLogger(settings.log), bodyParser: false, abortOnError: false },
    );
    const [gate, addresses] = [app.get(DenyGate, { strict: false }), app.get(CallerAddress, { strict: false })];
    isDenied = (request) => !gate.isOpen && gate.refuses(addresses.of(request));
    if (gateway.upstream !== undefined) upgrades = app.get(UpgradeProxy, { strict: false });
    app.getHttpServer().on('upgrade', (request, socket, head) => upgrades?.handle(request, socket, head));
    dispatchDirectly(app.getHttpServer(), app.get(Dispatcher, { strict: false }), operator.listen === undefined);
    if (hasRelay(settings.config.current)) app.get(GatewayRelay, { strict: false }).attach(app.getHttpServer());
    // The main process has counted the connections of a worker.
    if (!settings.main) app.get(ConnectionLimit, { strict: false }).attach(app.getHttpServer());
    app.useGlobalFilters(new MatrixErrorFilter());
    return new LimitsApplication(app, settings, handed);
  }

  /** Runs the start hooks and accepts connections. @returns the URLs of both listeners */
  async listen(): Promise<{ url: string; operatorUrl?: string | undefined }> {
    const { server, operator } = this.settings.config.current;
    const address = ListenAddress.parse(server.listen);
    await this.app.init();
    await explainListenFailure('server.listen', server.listen, this.app.listen(address.port, address.host));
    const bound = this.app.getHttpServer().address() as AddressInfo;
    const operatorUrl =
      operator.listen === undefined ? undefined : this.app.get(OperatorListener, { strict: false }).url;
    return { url: address.urlOn(bound.port), operatorUrl };
  }

  /** Runs the start hooks of a worker. @returns takes the connections that the main process hands over */
  async startWorker(): Promise<HandedConnections> {
    await this.app.init();
    // Otherwise, this happens when the server listens.
    await this.app.getHttpAdapter().getInstance().ready();
    this.handed.attach(this.app.getHttpServer());
    return this.handed;
  }

  /** The metrics of this process. */
  get metrics(): LimitsMetrics {
    return this.app.get(LimitsMetrics, { strict: false });
  }

  /** The counts of holders that the main process asks a worker for. */
  get heldCounts(): HeldCounts {
    return this.app.get(HeldCounts, { strict: false });
  }

  get denyLists(): DenyLists {
    return this.app.get(DenyLists, { strict: false });
  }

  /** @param text replaces that of the file */
  async reload(text?: string): Promise<boolean> {
    const isInForce = await this.app.get(ReloadConfig, { strict: false }).run(text);
    // A worker has none.
    await (this.app.get(DenyFiles, { strict: false }) as DenyFiles | undefined)?.check(true);
    return isInForce;
  }

  close(): Promise<void> {
    this.handed.stop();
    return this.app.close();
  }
}

/** @throws ConfigError when the upstream is this gateway */
export function refuseLoops({ gateway, server }: Config): void {
  if (gateway.upstream !== undefined && pointsTo(gateway.upstream, server.listen))
    throw new ConfigError('configuration', ['gateway.upstream is the address of this gateway itself']);
}

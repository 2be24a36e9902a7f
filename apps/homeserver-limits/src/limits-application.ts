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
import { ConnectionLimit } from './edge/connection-limit.js';
import { Dispatcher } from './edge/dispatcher.js';
import { dispatchDirectly } from './edge/direct-dispatch.js';
import { matrixAdapter } from './edge/matrix-adapter.js';
import { UpgradeProxy } from './gateway/upgrade-proxy.js';
import { OperatorListener } from './operator/operator-listener.js';
import { GatewayRelay } from './relay/gateway-relay.js';
import { StartLogger } from './start-logger.js';

/** The application in the mode that its configuration selects. */
export class LimitsApplication {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly settings: Settings,
  ) {}

  /** Creates every provider. Nothing listens yet. @throws ConfigError */
  static async create(settings: Settings): Promise<LimitsApplication> {
    const { server, gateway, operator } = settings.config.current;
    if (gateway.upstream !== undefined && pointsTo(gateway.upstream, server.listen)) {
      throw new ConfigError('configuration', ['gateway.upstream is the address of this gateway itself']);
    }
    let upgrades: UpgradeProxy | undefined;
    const app = await NestFactory.create<NestFastifyApplication>(
      AppModule.forRoot(settings, await loadHomeserverModule(settings)),
      matrixAdapter({
        mayUpgrade: (request) => upgrades?.accepts(request) ?? false,
        // The operator's listener has them, away from clients.
        hasMetrics: operator.listen === undefined,
      }),
      { logger: new StartLogger(settings.log), bodyParser: false, abortOnError: false },
    );
    if (gateway.upstream !== undefined) upgrades = app.get(UpgradeProxy, { strict: false });
    app.getHttpServer().on('upgrade', (request, socket, head) => upgrades?.handle(request, socket, head));
    dispatchDirectly(app.getHttpServer(), app.get(Dispatcher, { strict: false }), operator.listen === undefined);
    if (hasRelay(settings.config.current)) app.get(GatewayRelay, { strict: false }).attach(app.getHttpServer());
    app.get(ConnectionLimit, { strict: false }).attach(app.getHttpServer());
    app.useGlobalFilters(new MatrixErrorFilter());
    return new LimitsApplication(app, settings);
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

  reload(): Promise<boolean> {
    return this.app.get(ReloadConfig, { strict: false }).run();
  }

  close(): Promise<void> {
    return this.app.close();
  }
}

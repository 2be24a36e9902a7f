import type { Server } from 'node:http';
import { ListenAddress } from '@headgate/nest-kit';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { sharedUrls } from './config/shared.section.js';
import type { Settings } from './config/settings.module.js';
import { DenyFiles } from './deny/deny-files.js';
import { listensElsewhere } from './edge/handed-connections.js';
import { matrixAdapter } from './edge/matrix-adapter.js';
import { HoldingsCache } from './gateway/holdings-cache.js';
import { removeSharedDelays, SharedDelays } from './gateway/shared-delays.js';
import { refuseLoops } from './limits-application.js';
import { OperatorListener } from './operator/operator-listener.js';
import { ReloadConfig } from './rules/reload-config.js';
import { StartLogger } from './start-logger.js';
import { DataFolder } from './state/data-folder.js';
import { recipientSecretIn } from './state/recipient-keys.js';
import { WorkerPool } from './workers/worker-pool.js';

/**
 * The main process of a gateway with several workers. It has the listener, the windows, the caps and everything of
 * operators; the workers handle the requests.
 */
export class MainApplication {
  private readonly pool: WorkerPool;

  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly settings: Settings,
  ) {
    this.pool = app.get(WorkerPool, { strict: false });
  }

  /** Creates every provider. Nothing listens yet. @throws ConfigError */
  static async create(settings: Settings): Promise<MainApplication> {
    refuseLoops(settings.config.current);
    const app = await NestFactory.create<NestFastifyApplication>(AppModule.forMain(settings), matrixAdapter(), {
      logger: new StartLogger(settings.log),
      bodyParser: false,
      abortOnError: false,
    });
    return new MainApplication(app, settings);
  }

  /** Starts the workers and accepts connections. @returns the URLs of both listeners @throws ConfigError */
  async listen(): Promise<{ url: string; operatorUrl?: string | undefined }> {
    const { server, operator } = this.settings.config.current;
    listensElsewhere(this.app.getHttpServer() as Server, () => this.pool.isListening);
    await this.app.init();
    this.createFiles();
    await this.pool.start();
    const address = ListenAddress.parse(server.listen);
    const port = await this.pool.listen(server.listen, address);
    const operatorUrl =
      operator.listen === undefined ? undefined : this.app.get(OperatorListener, { strict: false }).url;
    return { url: address.urlOn(port), operatorUrl };
  }

  /** In all processes, or in none. */
  async reload(): Promise<boolean> {
    const isInForce = await this.app.get(ReloadConfig, { strict: false }).run();
    await this.app.get(DenyFiles, { strict: false }).check(true);
    const { latestText } = this.settings.config;
    if (isInForce && latestText !== undefined) {
      const count = await this.pool.reload(latestText);
      this.settings.log.info({ workers: count }, 'the workers have the configuration');
    }
    return isInForce;
  }

  async close(): Promise<void> {
    await this.pool.stop();
    await this.app.close();
  }

  /** The files that all workers use, so that no two of them create one at the same time. */
  private createFiles(): void {
    const { path } = this.app.get(DataFolder, { strict: false });
    if (sharedUrls(this.settings.config.current.shared).length === 0) recipientSecretIn(path);
    removeSharedDelays(path);
    new HoldingsCache(path, undefined, new SharedDelays(path)).close();
  }
}

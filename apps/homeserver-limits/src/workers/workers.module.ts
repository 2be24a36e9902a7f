import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { DenyFiles } from '../deny/deny-files.js';
import { DenyModule } from '../deny/deny.module.js';
import { CallerAddressModule } from '../edge/caller-address.module.js';
import { ConnectionLimit } from '../edge/connection-limit.js';
import { openRequestLimit } from '../edge/open-request-limit.js';
import { RequestLimit } from '../edge/request-limit.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { ReportsModule } from '../reports/reports.module.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';
import { RulesModule } from '../rules/rules.module.js';
import { DataFolder } from '../state/data-folder.js';
import { WorkerMetrics } from './worker-metrics.js';
import { WorkerPool } from './worker-pool.js';

/** A scrape does not wait longer for a worker. */
const METRICS_TIMEOUT_MS = 1_000;

/** The workers of a gateway, and what they ask of the main process. */
@Module({
  imports: [RulesModule, ReportsModule, MetricsModule, CallerAddressModule, DenyModule],
  providers: [
    { provide: RequestLimit, useFactory: openRequestLimit, inject: [LiveConfig, Rules, LimitsMetrics, RefusalLog] },
    {
      provide: WorkerPool,
      useFactory: (
        config: LiveConfig,
        folder: DataFolder,
        rules: Rules,
        caps: Caps,
        refusals: RefusalLog,
        metrics: LimitsMetrics,
        connections: ConnectionLimit,
        log: Logger,
        files: DenyFiles,
        limit?: RequestLimit,
      ) => {
        const workerMetrics = new WorkerMetrics(metrics.registry);
        const pool = new WorkerPool({
          count: config.current.server.workers,
          settings: () => ({
            text: config.startText,
            path: config.path,
            reloaded: config.latestText,
            dataDir: folder.path,
          }),
          session: { rules, caps, limit, refusals, watch: metrics.watch, metrics: () => metrics.text() },
          denied: () => files.current,
          connections,
          metrics: workerMetrics,
          log,
        });
        metrics.readWith(async () => {
          await pool.readMetrics(METRICS_TIMEOUT_MS);
          return workerMetrics.text();
        });
        files.follow((lists) => pool.deny(lists));
        return pool;
      },
      inject: [
        LiveConfig,
        DataFolder,
        Rules,
        Caps,
        RefusalLog,
        LimitsMetrics,
        ConnectionLimit,
        LOGGER,
        DenyFiles,
        RequestLimit,
      ],
    },
  ],
})
export class WorkersModule {}

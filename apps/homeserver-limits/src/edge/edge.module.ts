import { BodyBudget, Homeserver, PathTable } from '@headgate/homeserver-contracts';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { Logger } from 'pino';
import { Bounds } from '../bounds/bounds.js';
import { OperationRules } from '../bounds/operation-rules.js';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { boundsRequests } from '../config/server.section.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { DenyGate } from '../deny/deny-gate.js';
import { DenyModule } from '../deny/deny.module.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { ReportsModule } from '../reports/reports.module.js';
import { Rules } from '../rules/rules.js';
import { RulesModule } from '../rules/rules.module.js';
import { AbandonedRequests } from './abandoned-requests.js';
import { CallerAddress } from './caller-address.js';
import { CallerAddressModule } from './caller-address.module.js';
import { ConnectionDrain } from './connection-drain.js';
import { Dispatcher } from './dispatcher.js';
import { openRequestLimit } from './open-request-limit.js';
import { RemoteRequestLimit } from './remote-request-limit.js';
import { RequestLimit, type RequestPlaces } from './request-limit.js';
import { MatrixController } from './matrix.controller.js';

const MIB = 1024 * 1024;
/**
 * Requests without a caller are before the others in the queue to the homeserver, so a source may have fewer of
 * them than connections.
 */
const ABANDONED_SHARE = 8;

/** Takes requests in and writes responses. */
@Module({})
export class EdgeModule {
  constructor(metrics: LimitsMetrics, bodies: BodyBudget) {
    metrics.showBodies(bodies);
  }

  /** @param homeserver exports `Homeserver` and the `PathTable` of its operations; @param bounds exports `Bounds` */
  static over(homeserver: Type, bounds: DynamicModule): DynamicModule {
    return {
      module: EdgeModule,
      imports: [homeserver, bounds, CallerAddressModule, MetricsModule, RulesModule, ReportsModule, DenyModule],
      controllers: [MatrixController],
      providers: [
        ConnectionDrain,
        {
          provide: RequestLimit,
          useFactory: (
            config: LiveConfig,
            rules: Rules,
            metrics: LimitsMetrics,
            refusals: RefusalLog,
            main?: MainLink,
          ): RequestPlaces | undefined => {
            if (!main) return openRequestLimit(config, rules, metrics, refusals);
            return boundsRequests(config.current.server) ? new RemoteRequestLimit(main) : undefined;
          },
          inject: [LiveConfig, Rules, LimitsMetrics, RefusalLog, MAIN_LINK],
        },
        {
          provide: BodyBudget,
          useFactory: ({ current: { server } }: LiveConfig) =>
            new BodyBudget(Math.floor((server.body_memory_mib * MIB) / server.workers)),
          inject: [LiveConfig],
        },
        {
          provide: AbandonedRequests,
          useFactory: ({ current: { server } }: LiveConfig, addresses: CallerAddress, metrics: LimitsMetrics) =>
            new AbandonedRequests({
              addresses,
              maxPerSource: Math.ceil(server.connections_per_source / ABANDONED_SHARE / server.workers),
              onRefused: metrics.countRefusedAfterHangUps,
            }),
          inject: [LiveConfig, CallerAddress, LimitsMetrics],
        },
        {
          provide: Dispatcher,
          useFactory: (
            table: PathTable<string>,
            registry: Bounds,
            rules: OperationRules,
            backend: Homeserver,
            addresses: CallerAddress,
            bodies: BodyBudget,
            log: Logger,
            deny: DenyGate,
            abandoned: AbandonedRequests,
            limit?: RequestPlaces,
          ) =>
            new Dispatcher({
              table,
              bounds: registry,
              rules,
              homeserver: backend,
              addresses,
              bodies,
              abandoned,
              limit,
              deny,
              log,
            }),
          inject: [
            PathTable,
            Bounds,
            OperationRules,
            Homeserver,
            CallerAddress,
            BodyBudget,
            LOGGER,
            DenyGate,
            AbandonedRequests,
            RequestLimit,
          ],
        },
      ],
    };
  }
}

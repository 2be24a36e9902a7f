import { Identity, PathTable } from '@headgate/homeserver-contracts';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { Logger } from 'pino';
import { Bounds } from '../bounds/bounds.js';
import { OperationRules } from '../bounds/operation-rules.js';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { DenyGate } from '../deny/deny-gate.js';
import { DenyModule } from '../deny/deny.module.js';
import { CallerAddress } from '../edge/caller-address.js';
import { CallerAddressModule } from '../edge/caller-address.module.js';
import type { GatewayIdentity } from '../gateway/gateway-identity.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { GatewayRelay } from './gateway-relay.js';
import { RelayPlan } from './relay-plan.js';

/** The relay of a gateway whose upstream has no TLS. */
@Module({})
export class RelayModule {
  /**
   * @param gateway exports `Identity` and the `PathTable` of its operations;
   * @param bounds exports `Bounds` and `OperationRules`
   */
  static over(gateway: Type, bounds: DynamicModule): DynamicModule {
    return {
      module: RelayModule,
      imports: [gateway, bounds, CallerAddressModule, MetricsModule, DenyModule],
      providers: [
        {
          provide: RelayPlan,
          useFactory: (
            table: PathTable<string>,
            registry: Bounds,
            rules: OperationRules,
            addresses: CallerAddress,
            { current }: LiveConfig,
            deny: DenyGate,
          ) =>
            new RelayPlan({
              table,
              bounds: registry,
              rules,
              addresses,
              deny,
              timeoutMs: current.gateway.timeout_ms,
              hasMetrics: current.operator.listen === undefined,
            }),
          inject: [PathTable, Bounds, OperationRules, CallerAddress, LiveConfig, DenyGate],
        },
        {
          provide: GatewayRelay,
          useFactory: (
            plan: RelayPlan,
            addresses: CallerAddress,
            identity: GatewayIdentity,
            { current }: LiveConfig,
            metrics: LimitsMetrics,
            log: Logger,
          ) => {
            const relay = new GatewayRelay({
              plan,
              addresses,
              identity,
              log,
              upstream: new URL(current.gateway.upstream ?? ''),
              onAnswer: metrics.recordUpstream,
            });
            metrics.addWaiting(() => relay.waitingCount);
            return relay;
          },
          inject: [RelayPlan, CallerAddress, Identity, LiveConfig, LimitsMetrics, LOGGER],
        },
      ],
      exports: [GatewayRelay],
    };
  }
}

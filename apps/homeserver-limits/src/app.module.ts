import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { BlocksModule } from './blocks/blocks.module.js';
import { BoundsModule } from './bounds/bounds.module.js';
import type { Config } from './config/config.js';
import { boundsRequests } from './config/server.section.js';
import { type Settings, SettingsModule } from './config/settings.module.js';
import { EdgeModule } from './edge/edge.module.js';
import { GatewayModule } from './gateway/gateway.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OperatorModule } from './operator/operator.module.js';
import { RelayModule } from './relay/relay.module.js';
import { RulesModule } from './rules/rules.module.js';
import { StateModule } from './state/state.module.js';
import { WorkersModule } from './workers/workers.module.js';

/**
 * The modules in dependency order: settings, state (windows and caps), metrics, rules, the homeserver behind them,
 * bounds, edge. Nest starts them in this order and stops them in the reverse order.
 */
@Module({})
export class AppModule {
  /**
   * @param homeserver exports the ports `Homeserver`, `Identity`, `Directory` and `Holdings`, and the `PathTable` of
   *   its operations
   */
  static forRoot(settings: Settings, homeserver: Type): DynamicModule {
    const { operator } = settings.config.current;
    const bounds = BoundsModule.over(homeserver);
    return {
      module: AppModule,
      imports: [
        SettingsModule.forRoot(settings),
        StateModule,
        MetricsModule,
        RulesModule,
        BlocksModule,
        homeserver,
        bounds,
        EdgeModule.over(homeserver, bounds),
        ...(hasRelay(settings.config.current) ? [RelayModule.over(homeserver, bounds)] : []),
        ...(operator.listen === undefined || settings.main ? [] : [OperatorModule]),
      ],
    };
  }

  /** The modules of a main process, whose workers have the homeserver, the bounds and the edge. */
  static forMain(settings: Settings): DynamicModule {
    const hasOperator = settings.config.current.operator.listen !== undefined;
    return {
      module: AppModule,
      imports: [
        SettingsModule.forRoot(settings),
        StateModule,
        MetricsModule,
        RulesModule,
        BlocksModule,
        WorkersModule,
        ...(hasOperator ? [OperatorModule] : []),
      ],
    };
  }
}

/** TLS to the upstream is left to Node's client, and so are all requests if those in progress are counted. */
export function hasRelay({ gateway: { relay, upstream }, server }: Config): boolean {
  return relay && upstream !== undefined && upstream.startsWith('http:') && !boundsRequests(server);
}

/** The module of the mode. A gateway does not load the embedded homeserver. */
export async function loadHomeserverModule({ config }: Settings): Promise<Type> {
  if (config.current.gateway.upstream !== undefined) return GatewayModule;
  const { EmbeddedModule } = await import('./embedded.module.js');
  return EmbeddedModule;
}

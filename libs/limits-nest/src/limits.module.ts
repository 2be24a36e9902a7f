import {
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  Module,
  type ModuleMetadata,
} from '@nestjs/common';
import { APP_FILTER, DiscoveryModule } from '@nestjs/core';
import { LimitRules } from './limit-rules.js';
import { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';
import { MatrixErrorFilter } from './matrix-error.filter.js';
import { RuleDiscovery } from './rule-discovery.js';

export interface LimitsAsyncOptions {
  readonly imports?: ModuleMetadata['imports'];
  readonly inject?: InjectionToken[];
  readonly useFactory: FactoryProvider<LimitsOptions | Promise<LimitsOptions>>['useFactory'];
}

/** Makes `@Limited` and `@Capped` work in every module, and answers every error in Matrix's form. */
@Module({})
export class LimitsModule {
  static forRoot(options: LimitsOptions = {}): DynamicModule {
    return limitsModule({ provide: LIMITS_OPTIONS, useValue: options });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: LimitsAsyncOptions): DynamicModule {
    const module = limitsModule({ provide: LIMITS_OPTIONS, inject, useFactory });
    return { ...module, imports: [...imports, ...(module.imports ?? [])] };
  }
}

function limitsModule(options: NonNullable<ModuleMetadata['providers']>[number]): DynamicModule {
  return {
    module: LimitsModule,
    global: true,
    imports: [DiscoveryModule],
    providers: [options, LimitRules, RuleDiscovery, { provide: APP_FILTER, useClass: MatrixErrorFilter }],
    exports: [LimitRules],
  };
}

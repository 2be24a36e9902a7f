import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Module,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { HeldCounters } from '../caps/held-counters.js';
import { MatrixErrorFilter } from '../errors/matrix-error.filter.js';
import { DefaultRateGuard } from '../rates/default-rate.guard.js';
import { LimitRules } from '../rules/limit-rules.js';
import { LIMITS_OPTIONS, type LimitsModuleExtras, type LimitsOptions } from '../rules/limits-options.js';
import { RuleDiscovery } from './rule-discovery.js';

const matrixFilter = { provide: APP_FILTER, useClass: MatrixErrorFilter };

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<LimitsOptions>({
  optionsInjectionToken: LIMITS_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createLimitsOptions')
  .setExtras<LimitsModuleExtras>({ matrixErrors: true }, ({ providers = [], ...module }, { matrixErrors }) => ({
    ...module,
    global: true,
    providers: matrixErrors ? [...providers, matrixFilter] : providers,
  }))
  .build();

/** Enables `@RateLimit` and `@Capped` in all modules, and converts every error into a Matrix error response. */
@Module({
  imports: [DiscoveryModule],
  providers: [LimitRules, HeldCounters, RuleDiscovery, { provide: APP_GUARD, useClass: DefaultRateGuard }],
  exports: [LimitRules, HeldCounters],
})
export class LimitsModule extends ConfigurableModuleClass {
  static override forRoot(options: LimitsOptions & LimitsModuleExtras = {}): DynamicModule {
    return super.forRoot(options);
  }

  /** Takes `useFactory`, or `useClass` or `useExisting` with a LimitsOptionsFactory. */
  static override forRootAsync(
    options: ConfigurableModuleAsyncOptions<LimitsOptions, 'createLimitsOptions'> & LimitsModuleExtras,
  ): DynamicModule {
    return super.forRootAsync(options);
  }
}

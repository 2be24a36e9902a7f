import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { OperatorListener } from './operator-listener.js';

/** The operator's API, where `operator.listen` is set. */
@Module({
  imports: [RulesModule],
  providers: [
    {
      provide: OperatorListener,
      useFactory: (
        config: LiveConfig,
        windows: MemoryRateLimiter,
        store: RateLimiter,
        ledger: CapLedger,
        log: Logger,
      ) => {
        const { listen = '', token } = config.current.operator;
        return new OperatorListener({ listen, token, windows, store, ledger, log });
      },
      inject: [LiveConfig, MemoryRateLimiter, RateLimiter, CapLedger, LOGGER],
    },
  ],
})
export class OperatorModule {}

import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { CallerAddress } from './caller-address.js';
import { ProxyWarnings } from './proxy-warnings.js';

/** Who a request comes from, for the edge and for the headers to the upstream. */
@Module({
  imports: [MetricsModule],
  providers: [
    {
      provide: CallerAddress,
      useFactory: ({ current: { server } }: LiveConfig, metrics: LimitsMetrics, log: Logger) => {
        const warnings = new ProxyWarnings(log);
        warnings.checkTrusted(server.trusted_proxies);
        return new CallerAddress(server.trusted_proxies, server.ipv6_prefix, (peer) => {
          metrics.countUntrustedForwarded();
          warnings.ignoredHeader(peer);
        });
      },
      inject: [LiveConfig, LimitsMetrics, LOGGER],
    },
  ],
  exports: [CallerAddress],
})
export class CallerAddressModule {}

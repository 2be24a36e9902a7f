import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { CallerAddress } from './caller-address.js';
import { ConnectionLimit } from './connection-limit.js';
import { ProxyWarnings } from './proxy-warnings.js';

/** Who a request or a connection comes from, for the edge and for the headers to the upstream. */
@Module({
  imports: [MetricsModule],
  providers: [
    { provide: ProxyWarnings, useFactory: (log: Logger) => new ProxyWarnings(log), inject: [LOGGER] },
    {
      provide: ConnectionLimit,
      useFactory: (
        { current: { server } }: LiveConfig,
        addresses: CallerAddress,
        metrics: LimitsMetrics,
        warnings: ProxyWarnings,
      ) =>
        new ConnectionLimit({
          addresses,
          maxPerSource: server.connections_per_source,
          onRefused: (source) => {
            metrics.countRefusedConnection();
            warnings.refusedConnection(source);
          },
        }),
      inject: [LiveConfig, CallerAddress, LimitsMetrics, ProxyWarnings],
    },
    {
      provide: CallerAddress,
      useFactory: (
        { current: { server } }: LiveConfig,
        metrics: LimitsMetrics,
        warnings: ProxyWarnings,
        main?: MainLink,
      ) => {
        // The main process has warned already.
        if (!main) warnings.checkTrusted(server.trusted_proxies);
        return new CallerAddress(server.trusted_proxies, server.ipv6_prefix, (peer) => {
          metrics.countUntrustedForwarded();
          warnings.ignoredHeader(peer);
        });
      },
      inject: [LiveConfig, LimitsMetrics, ProxyWarnings, MAIN_LINK],
    },
  ],
  exports: [CallerAddress, ConnectionLimit],
})
export class CallerAddressModule {}

import {
  EmbeddedHomeserverModule,
  embeddedOperations,
  type EmbeddedOptions,
  PasswordHash,
} from '@headgate/embedded-homeserver';
import { PathTable } from '@headgate/homeserver-contracts';
import { Module } from '@nestjs/common';
import { LiveConfig } from './config/live-config.js';
import { LimitsMetrics } from './metrics/limits-metrics.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { DataFolder } from './state/data-folder.js';

const homeserver = EmbeddedHomeserverModule.registerAsync({
  inject: [LiveConfig, DataFolder],
  useFactory: (config: LiveConfig, folder: DataFolder): EmbeddedOptions => {
    const { server, rtc, federation } = config.current;
    return {
      serverName: server.name,
      dataDir: folder.path,
      registration: server.registration,
      registrationTokens: server.registration_tokens,
      callService: rtc,
      trustedServers: rtc.trusted_servers,
      peers: federation.peers,
      delayedEvents: () => {
        const { max_delay_ms, max_per_room } = config.current.delayed_events;
        return { maxDelayMs: max_delay_ms, maxPerRoom: max_per_room };
      },
    };
  },
});

/** Embedded mode: the homeserver behind the bounds is the embedded one. */
@Module({
  imports: [MetricsModule, homeserver],
  providers: [{ provide: PathTable, useFactory: () => new PathTable(embeddedOperations) }],
  exports: [homeserver, PathTable],
})
export class EmbeddedModule {
  constructor(metrics: LimitsMetrics, passwords: PasswordHash) {
    metrics.showPasswords(() => passwords.verifications);
  }
}

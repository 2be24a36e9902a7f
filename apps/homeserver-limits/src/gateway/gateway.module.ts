import { PeerClient, RemoteOpenId } from '@headgate/embedded-homeserver/peers';
import {
  boundedOperations,
  CallCredentials,
  Directory,
  Holdings,
  Homeserver,
  Identity,
  PathTable,
} from '@headgate/homeserver-contracts';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { readNamedFile } from '../config/read-file.js';
import { LOGGER } from '../config/settings.module.js';
import { CallerAddress } from '../edge/caller-address.js';
import { CallerAddressModule } from '../edge/caller-address.module.js';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { Caps } from '../rules/caps.js';
import { RulesModule } from '../rules/rules.module.js';
import { DataFolder } from '../state/data-folder.js';
import { AccountDataSeed } from './account-data-seed.js';
import { ApplicationServices } from './application-services.js';
import { GatewayCallCredentials } from './gateway-call-credentials.js';
import { GatewayHomeserver } from './gateway-homeserver.js';
import { GatewayIdentity } from './gateway-identity.js';
import { HoldingsCache } from './holdings-cache.js';
import { SharedDelays } from './shared-delays.js';
import { HoldingsObserver } from './holdings-observer.js';
import { readRegistration } from './registration.js';
import { UpgradeProxy } from './upgrade-proxy.js';
import { UpstreamClient } from './upstream-client.js';
import { UpstreamDirectory } from './upstream-directory.js';
import { UpstreamHeaders } from './upstream-headers.js';
import { UpstreamHoldings } from './upstream-holdings.js';
import { UpstreamQueries } from './upstream-queries.js';

const upstreamOf = ({ current: { gateway } }: LiveConfig): URL => new URL(gateway.upstream ?? '');

function openClient(config: LiveConfig, metrics: LimitsMetrics): UpstreamClient {
  const { ca_file } = config.current.gateway;
  const ca = ca_file === undefined ? undefined : readNamedFile(ca_file);
  const client = new UpstreamClient(upstreamOf(config), ca, metrics.recordUpstream);
  metrics.addWaiting(() => client.waitingCount);
  return client;
}

/** The gateway serves the media service's endpoint where it can check who is a member of a room. */
function callCredentials(
  { current: { rtc, server } }: LiveConfig,
  identity: GatewayIdentity,
  upstream: UpstreamQueries,
): GatewayCallCredentials | undefined {
  const credentials = CallCredentials.of(rtc);
  if (!credentials || rtc.registration === undefined) return undefined;
  const service = readRegistration(rtc.registration, server.name);
  return new GatewayCallCredentials({ identity, upstream, service, credentials, serverName: server.name });
}

/** Gateway mode: the homeserver behind the bounds is the upstream. */
@Module({
  imports: [RulesModule, MetricsModule, CallerAddressModule],
  providers: [
    { provide: PathTable, useFactory: () => new PathTable(boundedOperations) },
    { provide: UpstreamClient, useFactory: openClient, inject: [LiveConfig, LimitsMetrics] },
    {
      provide: UpstreamQueries,
      useFactory: (client: UpstreamClient, config: LiveConfig, headers: UpstreamHeaders) => {
        const { timeout_ms: timeoutMs } = config.current.gateway;
        return new UpstreamQueries({ client, host: upstreamOf(config).host, timeoutMs, headers });
      },
      inject: [UpstreamClient, LiveConfig, UpstreamHeaders],
    },
    {
      provide: ApplicationServices,
      useFactory: ({ current: { gateway, server } }: LiveConfig) =>
        ApplicationServices.read(gateway.appservices, server.name),
      inject: [LiveConfig],
    },
    {
      provide: GatewayIdentity,
      useFactory: (
        queries: UpstreamQueries,
        services: ApplicationServices,
        { current }: LiveConfig,
        metrics: LimitsMetrics,
      ) =>
        new GatewayIdentity(
          queries,
          services,
          {
            serverName: current.server.name,
            ttlMs: current.gateway.whoami_ttl_ms,
            onLookup: (isHit) => metrics.recordLookup('callers', isHit),
          },
          new RemoteOpenId(current.rtc.trusted_servers, new PeerClient(current.federation.peers)),
        ),
      inject: [UpstreamQueries, ApplicationServices, LiveConfig, LimitsMetrics],
    },
    {
      provide: HoldingsCache,
      useFactory: (folder: DataFolder, main?: MainLink) =>
        main
          ? new HoldingsCache(folder.path, undefined, new SharedDelays(folder.path))
          : new HoldingsCache(folder.path),
      inject: [DataFolder, MAIN_LINK],
    },
    {
      provide: AccountDataSeed,
      useFactory: (queries: UpstreamQueries, cache: HoldingsCache, log: Logger) =>
        new AccountDataSeed(queries, cache, log),
      inject: [UpstreamQueries, HoldingsCache, LOGGER],
    },
    {
      provide: HoldingsObserver,
      useFactory: (identity: GatewayIdentity, cache: HoldingsCache, caps: Caps, queries: UpstreamQueries) =>
        new HoldingsObserver({ identity, cache, caps, exists: (request, path) => queries.exists(request, path) }),
      inject: [GatewayIdentity, HoldingsCache, Caps, UpstreamQueries],
    },
    {
      provide: UpstreamHeaders,
      useFactory: (config: LiveConfig, addresses: CallerAddress) =>
        new UpstreamHeaders(upstreamOf(config).host, addresses),
      inject: [LiveConfig, CallerAddress],
    },
    {
      provide: GatewayCallCredentials,
      useFactory: callCredentials,
      inject: [LiveConfig, GatewayIdentity, UpstreamQueries],
    },
    {
      provide: GatewayHomeserver,
      useFactory: (
        upstream: UpstreamClient,
        identity: GatewayIdentity,
        observer: HoldingsObserver,
        headers: UpstreamHeaders,
        { current: { gateway } }: LiveConfig,
        log: Logger,
        calls?: GatewayCallCredentials,
      ) => new GatewayHomeserver({ upstream, identity, observer, headers, timeoutMs: gateway.timeout_ms, log, calls }),
      inject: [
        UpstreamClient,
        GatewayIdentity,
        HoldingsObserver,
        UpstreamHeaders,
        LiveConfig,
        LOGGER,
        GatewayCallCredentials,
      ],
    },
    {
      provide: UpgradeProxy,
      useFactory: (
        upstream: UpstreamClient,
        table: PathTable<string>,
        headers: UpstreamHeaders,
        { current: { gateway } }: LiveConfig,
      ) => new UpgradeProxy({ upstream, table, headers, timeoutMs: gateway.timeout_ms }),
      inject: [UpstreamClient, PathTable, UpstreamHeaders, LiveConfig],
    },
    UpstreamHoldings,
    { provide: Directory, useClass: UpstreamDirectory },
    { provide: Homeserver, useExisting: GatewayHomeserver },
    { provide: Identity, useExisting: GatewayIdentity },
    { provide: Holdings, useExisting: UpstreamHoldings },
  ],
  exports: [Homeserver, Identity, Holdings, Directory, PathTable, UpgradeProxy],
})
export class GatewayModule {}

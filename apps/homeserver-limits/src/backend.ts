import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Bounds } from './bounds/bounds.js';
import type { CountFreshness } from './bounds/caps.js';
import type { Caps } from './bounds/caps.js';
import { readNamedFile } from './config/read-file.js';
import type { LiveConfig } from './config/live-config.js';
import type { RtcSection } from './config/rtc.section.js';
import type { CallerAddress } from './edge/caller-address.js';
import { SystemClock } from './embedded/clock.js';
import { EmbeddedStore } from './embedded/embedded-store.js';
import { AccountDataSeed } from './gateway/account-data-seed.js';
import { ApplicationServices } from './gateway/application-services.js';
import { AskUpstream } from './gateway/ask-upstream.js';
import { towardsUpstream } from './gateway/forwarded-headers.js';
import { GatewayCalls } from './gateway/gateway-calls.js';
import { GatewayHomeserver } from './gateway/gateway-homeserver.js';
import { GatewayIdentity } from './gateway/gateway-identity.js';
import { readRegistration } from './gateway/registration.js';
import { SeenHoldings } from './gateway/seen-holdings.js';
import { UpgradeProxy } from './gateway/upgrade-proxy.js';
import { UpstreamClient } from './gateway/upstream-client.js';
import { UpstreamHoldings } from './gateway/upstream-holdings.js';
import { WatchAnswers } from './gateway/watch-answers.js';
import type { Holdings } from './homeserver/holdings.port.js';
import type { Homeserver } from './homeserver/homeserver.port.js';
import type { Identity } from './homeserver/identity.port.js';
import { CallCredentials } from './rtc/call-credentials.js';

/** What stands behind the bounds, whichever it is. */
export interface Backend {
  homeserver: Homeserver;
  identity: Identity;
  holdings: Holdings;
  freshness: CountFreshness;
  upgrades?: UpgradeProxy;
  passwordVerifications: () => number;
  start(): void;
  close(): void;
}

export type { Bounds };

/** The store answers at once, so it is asked each time. */
const ALWAYS_ASK: CountFreshness = { believeMs: 0, believeRefusalMs: 0 };

export function embeddedBackend(config: LiveConfig, dataDir: string): Backend {
  const store = new EmbeddedStore(config, dataDir, new SystemClock());
  const { homeserver, identity, holdings, passwords } = store;
  return {
    homeserver,
    identity,
    holdings,
    freshness: ALWAYS_ASK,
    passwordVerifications: () => passwords.verifications,
    start: () => store.start(),
    close: () => store.close(),
  };
}

/** @param caps not made yet when the backend is: they need its holdings */
export function gatewayBackend(
  upstream: string,
  { current }: LiveConfig,
  dataDir: string,
  addresses: CallerAddress,
  caps: () => Caps,
  log: Logger,
): Backend {
  const { server, gateway, rtc } = current;
  const base = new URL(upstream);
  const client = new UpstreamClient(base, gateway.ca_file === undefined ? undefined : readNamedFile(gateway.ca_file));
  const ask = new AskUpstream(client, base.host, gateway.timeout_ms);
  const services = ApplicationServices.read(gateway.appservices, server.name);
  const identity = new GatewayIdentity(ask, services, { serverName: server.name, ttlMs: gateway.whoami_ttl_ms });
  const seen = new SeenHoldings(dataDir);
  const trusts = (peer: string) => addresses.trusts(peer);
  const headersFor = (request: IncomingMessage) => {
    const peer = request.socket.remoteAddress ?? '';
    return towardsUpstream(request, peer, trusts(peer));
  };
  return {
    homeserver: new GatewayHomeserver(
      client,
      identity,
      new WatchAnswers(identity, seen, caps, (request, path) => ask.exists(request, path)),
      {
        host: base.host,
        timeoutMs: gateway.timeout_ms,
        trusts,
        log,
        calls: gatewayCalls(rtc, server.name, identity, ask),
      },
    ),
    identity,
    holdings: new UpstreamHoldings(ask, seen, new AccountDataSeed(ask, seen, log)),
    freshness: { believeMs: gateway.reconcile_ms, believeRefusalMs: 1_000 },
    upgrades: new UpgradeProxy(client, { headersFor, timeoutMs: gateway.timeout_ms }),
    passwordVerifications: () => 0,
    start: () => undefined,
    close: () => {
      client.close();
      seen.close();
    },
  };
}

/** The gateway answers for the media service where it can check who is a member of a room. */
function gatewayCalls(
  rtc: Readonly<RtcSection>,
  serverName: string,
  identity: Identity,
  ask: AskUpstream,
): GatewayCalls | undefined {
  const credentials = CallCredentials.of(rtc);
  if (!credentials || rtc.registration === undefined) return undefined;
  return new GatewayCalls(identity, ask, readRegistration(rtc.registration, serverName), credentials);
}

import { accessTokenIn, parseQuery } from '@headgate/homeserver-contracts';
import { type AnswerListener, type FailedRequest, Relay, type RequestHead } from '@headgate/http-relay';
import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { CallerAddress } from '../edge/caller-address.js';
import { DRAIN_TIMEOUT_MS } from '../edge/connection-drain.js';
import { withoutSecrets } from '../edge/dispatcher.js';
import { errorResponse } from '../errors/error-response.js';
import { serializeResponse } from '../errors/serialize-response.js';
import type { GatewayIdentity } from '../gateway/gateway-identity.js';
import { upstreamFailure } from '../gateway/upstream-failure.js';
import type { UpstreamKind } from '../metrics/limits-metrics.js';
import type { RelayPlan } from './relay-plan.js';

export interface GatewayRelayDeps {
  upstream: URL;
  plan: Pick<RelayPlan, 'of'>;
  addresses: Pick<CallerAddress, 'trusts'>;
  identity: Pick<GatewayIdentity, 'forget'>;
  onAnswer: AnswerListener<UpstreamKind>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Relays requests that the gateway does not have to read. It answers and logs their failures like those of all other
 * requests.
 */
export class GatewayRelay extends Relay<UpstreamKind> implements BeforeApplicationShutdown, OnApplicationShutdown {
  constructor({ upstream, plan, addresses, identity, onAnswer, log }: GatewayRelayDeps) {
    super({
      upstream,
      onAnswer,
      plan: (head, peer) => plan.of(head, peer),
      trusts: (address) => addresses.trusts(address),
      onUnauthorized: (head) => forgetToken(head, identity),
      respondToFailure: (error, request) => respondToFailure(error, request, log),
    });
  }

  beforeApplicationShutdown(): void {
    this.drain(DRAIN_TIMEOUT_MS);
  }

  onApplicationShutdown(): void {
    this.close();
  }
}

function respondToFailure(error: Error, { target, connection }: FailedRequest, log: Pick<Logger, 'warn'>): string {
  const failure = upstreamFailure(error);
  // Too many requests wait already. A line for each would serve an attacker.
  if (failure.status !== 503) log.warn({ err: failure, path: withoutSecrets(target) }, 'the upstream failed');
  return serializeResponse(errorResponse(failure), connection);
}

function forgetToken({ target, headers }: RequestHead, identity: Pick<GatewayIdentity, 'forget'>): void {
  const mark = target.indexOf('?');
  try {
    const token = accessTokenIn(headers.entries(), parseQuery(mark < 0 ? '' : target.slice(mark + 1)));
    if (token !== undefined) identity.forget(token);
  } catch {
    // A request with two different tokens: neither of them is cached.
  }
}

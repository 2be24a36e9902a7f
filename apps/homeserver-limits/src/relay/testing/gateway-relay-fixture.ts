import { boundedOperations, PathTable } from '@headgate/homeserver-contracts';
import { RelayFixture } from '@headgate/http-relay/testing';
import { Bounds } from '../../bounds/bounds.js';
import { GatewayRelay } from '../gateway-relay.js';
import { RelayPlan } from '../relay-plan.js';

export interface GatewayRelayFixture {
  readonly fixture: RelayFixture;
  /** The tokens that are no longer cached. */
  readonly forgotten: readonly string[];
  /** The peers whose header was ignored. */
  readonly ignored: readonly string[];
  /** The failures in the log. */
  readonly logged: readonly object[];
}

/** A relay as the gateway has it, without bounds. Requests for `/ruled` are left to Node. */
export async function openGatewayRelay(): Promise<GatewayRelayFixture> {
  const [forgotten, ignored, logged]: [string[], string[], object[]] = [[], [], []];
  const fixture = await RelayFixture.open(
    (upstream, opened) =>
      new GatewayRelay({
        upstream,
        plan: new RelayPlan({
          table: new PathTable(boundedOperations),
          bounds: new Bounds([]),
          rules: { applyTo: ({ target }) => target.segments[0] === 'ruled' },
          addresses: {
            ignoreHeaderOf: (peer) => void ignored.push(peer),
            behind: (address) => ({ address, source: address }),
          },
          deny: { isOpen: true, concerns: () => false },
          get timeoutMs() {
            return opened.timeoutMs;
          },
          hasMetrics: true,
        }),
        addresses: { trusts: () => opened.isTrusted },
        identity: { forget: (token) => void forgotten.push(token) },
        onAnswer: (kind, _ms, failure) => opened.answers.push([kind, failure]),
        log: { warn: (data: object) => void logged.push(data) } as never,
      }),
  );
  return { fixture, forgotten, ignored, logged };
}

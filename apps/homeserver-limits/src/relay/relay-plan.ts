import { parseQuery, type PathTable } from '@headgate/homeserver-contracts';
import { type ClientPeer, HEADER, type RelayedRequest, type RequestHead, requestHeadText } from '@headgate/http-relay';
import type { Bounds } from '../bounds/bounds.js';
import type { OperationRules } from '../bounds/operation-rules.js';
import type { DenyGate } from '../deny/deny-gate.js';
import type { CallerAddress } from '../edge/caller-address.js';
import { isMetricsRequest } from '../edge/matrix-adapter.js';
import { CALLS, requestedWaitMs } from '../gateway/gateway-homeserver.js';
import { FORM } from '../gateway/upstream-headers.js';
import type { UpstreamKind } from '../metrics/limits-metrics.js';

export interface RelayPlanDeps {
  table: PathTable<string>;
  bounds: Bounds;
  rules: Pick<OperationRules, 'applyTo'>;
  addresses: Pick<CallerAddress, 'ignoreHeaderOf' | 'behind'>;
  /** Node's server refuses and reports requests of the addresses on deny lists. */
  deny: Pick<DenyGate, 'isOpen' | 'concerns'>;
  timeoutMs: number;
  /** Whether the metrics are on this listener. */
  hasMetrics: boolean;
}

/**
 * The operations that may be relayed when neither a rule nor their bound applies. The gateway inspects the bodies or
 * the responses of all others.
 */
const RELAYED_OPERATIONS: ReadonlySet<string> = new Set([
  'send',
  'setState',
  'redact',
  'createRoom',
  'upgradeRoom',
  'invite',
  'joinRoom',
  'joinByName',
  'knock',
]);

/** Decides which requests are relayed: those that the gateway does not have to read, count or answer. */
export class RelayPlan {
  constructor(private readonly deps: RelayPlanDeps) {}

  /** @returns undefined for a request that Node's server handles */
  of(head: RequestHead, peer: ClientPeer): RelayedRequest<UpstreamKind> | undefined {
    const { method, target } = head;
    if (this.deps.hasMetrics && isMetricsRequest({ method, url: target })) return undefined;
    if (this.isDenied(head, peer)) return undefined;
    if (method === 'OPTIONS' && CALLS.test(target)) return undefined;
    const classified = this.deps.table.classify(method === 'HEAD' ? 'GET' : method, target);
    if (classified.kind === 'ambiguous') return undefined;
    const { query: queryText } = classified.target;
    const operation = classified.kind === 'matched' ? classified.match.operation : undefined;
    if (operation !== undefined) {
      const { params = {} } = classified.kind === 'matched' ? classified.match : {};
      if (!this.mayRelay(operation, params, queryText)) return undefined;
      // It is forwarded as JSON.
      if (FORM.test(head.headers.value(HEADER['content-type']) ?? '')) return undefined;
    }
    if (this.deps.rules.applyTo(classified, method, target)) return undefined;
    const waitMs = requestedWaitMs({
      target,
      get query() {
        return parseQuery(queryText);
      },
    });
    return {
      head,
      text: this.headText(head, peer),
      outlivesCaller: operation !== undefined,
      timeoutMs: this.deps.timeoutMs + waitMs,
      kind: waitMs > 0 ? 'long_poll' : 'forwarded',
    };
  }

  private isDenied({ headers }: RequestHead, { address }: ClientPeer): boolean {
    const { deny, addresses } = this.deps;
    return !deny.isOpen && deny.concerns(addresses.behind(address, headers.values(HEADER['x-forwarded-for'])));
  }

  private mayRelay(operation: string, params: Readonly<Record<string, string>>, queryText: string): boolean {
    if (!RELAYED_OPERATIONS.has(operation)) return false;
    const bound = this.deps.bounds.of(operation);
    if (!bound) return true;
    return !bound.appliesTo({
      param: (name) => params[name] ?? '',
      hasQuery: (name) => queryText !== '' && parseQuery(queryText).has(name),
    });
  }

  /** The head for the upstream, with the same changes as `UpstreamHeaders` makes. */
  private headText(head: RequestHead, peer: ClientPeer): string {
    if (!peer.isTrusted && head.headers.has(HEADER['x-forwarded-for']))
      this.deps.addresses.ignoreHeaderOf(peer.address);
    return requestHeadText(head, peer);
  }
}

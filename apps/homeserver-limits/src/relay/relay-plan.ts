import { parseQuery, type PathTable } from '@headgate/homeserver-contracts';
import type { Bounds } from '../bounds/bounds.js';
import type { OperationRules } from '../bounds/operation-rules.js';
import type { CallerAddress } from '../edge/caller-address.js';
import { isMetricsRequest } from '../edge/matrix-adapter.js';
import { CALLS, requestedWaitMs } from '../gateway/gateway-homeserver.js';
import { FORM, HOP_BY_HOP, REPLACED, REPLACED_OR_UNTRUSTED } from '../gateway/upstream-headers.js';
import type { ClientPeer } from './client-connection.js';
import type { RelayedRequest } from './exchange.js';
import { HEADER, headerSet } from './header-lines.js';
import type { RequestHead } from './http-head.js';

export interface RelayPlanDeps {
  table: PathTable<string>;
  bounds: Bounds;
  rules: Pick<OperationRules, 'applyTo'>;
  addresses: Pick<CallerAddress, 'ignoreHeaderOf'>;
  timeoutMs: number;
  /** Whether the metrics are on this listener. */
  hasMetrics: boolean;
}

/**
 * The operations that may be relayed when neither a rule nor their bound applies. The gateway inspects the bodies or the responses of
 * all others.
 */
const RELAYED_OPERATIONS: ReadonlySet<string> = new Set([
  'send',
  'setState',
  'redact',
  'createRoom',
  'invite',
  'joinRoom',
  'joinByName',
  'knock',
]);

const DROPPED_TRUSTED = headerSet([...HOP_BY_HOP, ...REPLACED]);
const DROPPED_UNTRUSTED = headerSet([...HOP_BY_HOP, ...REPLACED_OR_UNTRUSTED]);
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Decides which requests are relayed: those that the gateway does not have to read, count or answer. */
export class RelayPlan {
  constructor(private readonly deps: RelayPlanDeps) {}

  /** @returns undefined for a request that Node's server handles */
  of(head: RequestHead, peer: ClientPeer): RelayedRequest | undefined {
    const { method, target } = head;
    if (this.deps.hasMetrics && isMetricsRequest({ method, url: target })) return undefined;
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
    if (this.deps.rules.applyTo(target, operation)) return undefined;
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
  private headText({ method, target, headers }: RequestHead, { address, isTrusted }: ClientPeer): string {
    const forwardedFor = headers.value(HEADER['x-forwarded-for']);
    if (forwardedFor !== undefined && !isTrusted) this.deps.addresses.ignoreHeaderOf(address);
    const chain = forwardedFor && isTrusted ? `${forwardedFor}, ${address}` : address;
    const kept = headers.without(isTrusted ? DROPPED_TRUSTED : DROPPED_UNTRUSTED);
    let text = `${method} ${target} HTTP/1.1\r\n${kept}X-Forwarded-For: ${chain}\r\n`;
    if (!isTrusted || !headers.has(HEADER['x-forwarded-proto'])) text += 'X-Forwarded-Proto: http\r\n';
    if (METHODS_WITH_BODY.has(method) && !headers.has(HEADER['content-length'])) text += 'Content-Length: 0\r\n';
    return `${text}Connection: keep-alive\r\n\r\n`;
  }
}

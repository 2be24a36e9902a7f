import { type BoundedOperation, boundedOperations, PathTable } from '@headgate/homeserver-contracts';
import { PROXIES, targets } from '@headgate/homeserver-contracts/testing';

/** A request as a homeserver receives it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly target: string;
  /** The operation that the gateway found in the target that it received. It refuses an ambiguous one. */
  readonly verdict: BoundedOperation | 'unknown' | 'ambiguous';
}

/** Requests with changed targets, directly and behind each proxy, each of them once per verdict. */
export function receivedRequests(count: number, pieces?: readonly string[]): ReceivedRequest[] {
  const table = new PathTable(boundedOperations);
  const requests = new Map<string, ReceivedRequest>();
  for (const { method, target } of targets(count, 1, pieces)) {
    const ours = table.classify(method, target);
    const verdict = ours.kind === 'matched' ? ours.match.operation : ours.kind;
    for (const received of [target, ...Object.values(PROXIES).map((proxy) => proxy(target))])
      if (received?.startsWith('/'))
        requests.set(`${verdict} ${method} ${received}`, { method, target: received, verdict });
  }
  return [...requests.values()];
}

import type { IncomingMessage } from 'node:http';
import { parseQuery, PathTable } from '@headgate/homeserver-contracts';
import { RateExceeded } from '@headgate/limits-core';
import { OpenCounts } from './open-counts.js';

/** The names in metrics, logs and `ratelimit.shadow`. */
export const REQUEST_LIMITS = ['concurrent_requests', 'concurrent_polls'] as const;
export type RequestLimitName = (typeof REQUEST_LIMITS)[number];

/** When a request in progress will end is not known. */
const RETRY_MS = 1_000;

export interface Refused {
  readonly key: string;
  readonly limit: number;
  readonly address: string;
  readonly retryAfterMs: number;
}

export interface RequestLimitDeps {
  /** How many requests, and how many long polls, one source may have in progress. Undefined: any number. */
  readonly limits: Readonly<Record<RequestLimitName, number | undefined>>;
  readonly isShadow: (name: RequestLimitName) => boolean;
  /** Whether a caller is not bounded, now. */
  readonly isExempt: (caller: { address: string }) => boolean;
  readonly onGranted: (name: RequestLimitName) => void;
  readonly onRefused: (name: RequestLimitName, refused: Refused, isShadow: boolean) => void;
}

const POLLS = new PathTable([
  { operation: 'poll', methods: ['GET', 'POST'], paths: ['/_matrix/client/{v}/sync', '/_matrix/client/{v}/events'] },
]);
/** A request without any of these does not wait: an initial sync is expensive. */
const POSITIONS = ['since', 'pos', 'from'];

/** Gives places to requests in progress, in this process or in another one. */
export interface RequestPlaces {
  /** @returns gives the place back; call it once, however the request ends. Throws or rejects with RateExceeded */
  enter(
    request: Pick<IncomingMessage, 'method'>,
    target: string,
    caller: { address: string; source: string },
  ): (() => void) | Promise<() => void>;
}

/**
 * Bounds the requests of one source that are in progress. Long polls have a tally of their own: each device has one,
 * and it takes nothing while it waits. Only sources with a request in progress are in memory.
 */
export class RequestLimit implements RequestPlaces {
  private readonly counts: Readonly<Record<RequestLimitName, OpenCounts>> = {
    concurrent_requests: new OpenCounts(),
    concurrent_polls: new OpenCounts(),
  };

  constructor(private readonly deps: RequestLimitDeps) {}

  /** How many sources have a request in progress. */
  get sources(): number {
    return new Set(REQUEST_LIMITS.flatMap((name) => [...this.counts[name].sources()])).size;
  }

  /**
   * Takes a place for a request.
   * @returns gives the place back; call it once, however the request ends
   * @throws RateExceeded when the source has none left
   */
  enter(
    { method = 'GET' }: Pick<IncomingMessage, 'method'>,
    target: string,
    caller: { address: string; source: string },
  ): () => void {
    return this.take(boundOf(method, target), caller);
  }

  /** Like `enter`, by the name of the bound. */
  take(name: RequestLimitName, { address, source }: { address: string; source: string }): () => void {
    const limit = this.deps.limits[name];
    if (limit === undefined || this.deps.isExempt({ address })) return () => undefined;
    const counts = this.counts[name];
    if (counts.of(source) < limit) this.deps.onGranted(name);
    else {
      const isShadow = this.deps.isShadow(name);
      this.deps.onRefused(name, { key: source, limit, address, retryAfterMs: RETRY_MS }, isShadow);
      if (!isShadow) throw new RateExceeded({ rate: name, retryAfterMs: RETRY_MS });
    }
    counts.open(source);
    return () => counts.close(source);
  }
}

/** The bound that a request counts under. */
export const boundOf = (method: string, target: string): RequestLimitName =>
  isPoll(method, target) ? 'concurrent_polls' : 'concurrent_requests';

function isPoll(method: string, target: string): boolean {
  const mark = target.indexOf('?');
  if (mark < 0 || !target.includes('timeout=', mark) || POLLS.classify(method, target).kind !== 'matched') return false;
  const query = parseQuery(target.slice(mark + 1));
  return Number(query.get('timeout')) > 0 && POSITIONS.some((name) => query.has(name));
}

import type { FailureStatus } from '@headgate/http-relay';
import type { MemoryRateLimiter } from '@headgate/limits-core';
import { type DecisionListener, LimitMetrics } from '@headgate/limits-nest';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { DecisionHistory } from './decision-history.js';
import { FastHistogram } from './fast-histogram.js';

/** The token of the function that receives each decision of a rule. */
export const DECISION_LISTENER = Symbol('DecisionListener');
const UPSTREAM_KINDS = ['forwarded', 'long_poll', 'query'] as const;
/**
 * What a request to the upstream is for: a caller, a caller that waits for news, or a question of the gateway itself.
 */
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];
const CACHES = ['callers', 'counts'] as const;

/** Every series of this application: those of the rules, the process and the embedded store. */
export class LimitsMetrics {
  readonly registry = new Registry();
  private readonly limits: LimitMetrics;
  private readonly nearLimit = new Counter({
    name: 'limits_near_limit_total',
    help: 'Requests that a rate granted to a key with at least 80% of its limit used.',
    labelNames: ['rule'],
    registers: [this.registry],
  });
  private readonly upstreamSeconds = new FastHistogram({
    name: 'limits_upstream_seconds',
    help: "Time until the head of the upstream's response, by kind of request (forwarded, long_poll, query).",
    label: 'kind',
    kinds: UPSTREAM_KINDS,
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  private readonly upstreamFailures = new Counter({
    name: 'limits_upstream_failures_total',
    help: 'Requests that the upstream failed, by the status that the caller received (502, 504; 503: too many wait for a connection).',
    labelNames: ['status'],
    registers: [this.registry],
  });
  private readonly cacheLookups = new Counter({
    name: 'limits_cache_lookups_total',
    help: 'Lookups in a cache of the gateway (callers, counts), by result (hit, miss).',
    labelNames: ['cache', 'result'],
    registers: [this.registry],
  });
  private readonly untrustedForwarded = new Counter({
    name: 'limits_untrusted_forwarded_total',
    help: 'Requests with X-Forwarded-For from an address that is not a trusted proxy. The header was ignored.',
    registers: [this.registry],
  });
  private readonly refusedConnections = new Counter({
    name: 'limits_refused_connections_total',
    help: 'Connections closed because their source has too many open, by server.connections_per_source.',
    registers: [this.registry],
  });
  private readonly refusedAfterHangUps = new Counter({
    name: 'limits_refused_after_hangups_total',
    help: 'Requests refused because their source hung up before too many others that are still carried out.',
    registers: [this.registry],
  });

  /** Receives each decision of a rule. */
  readonly watch: DecisionListener;
  private readonly waiting: (() => number)[] = [];
  private read: () => Promise<string> = () => this.registry.metrics();

  /**
   * @param history also receives each decision
   * @param report receives each decision of a worker, which counts none itself
   */
  constructor(windows: MemoryRateLimiter, history?: DecisionHistory, report?: DecisionListener) {
    this.limits = new LimitMetrics(this.registry, windows);
    const { recordDecision } = this.limits;
    this.watch = report ?? (history ? both(recordDecision, history.record) : recordDecision);
    collectDefaultMetrics({ register: this.registry });
    this.upstreamSeconds.register(this.registry);
    for (const status of ['502', '503', '504']) this.upstreamFailures.inc({ status }, 0);
    const { waiting } = this;
    new Gauge({
      name: 'limits_upstream_waiting_requests',
      help: 'Requests that wait until a connection to the upstream is open or free.',
      registers: [this.registry],
      collect() {
        this.set(waiting.reduce((sum, count) => sum + count(), 0));
      },
    });
    for (const cache of CACHES) for (const result of ['hit', 'miss']) this.cacheLookups.inc({ cache, result }, 0);
  }

  /** The series of all processes, in the format of Prometheus. */
  text(): Promise<string> {
    return this.read();
  }

  /** @param read collects the series of all processes */
  readWith(read: () => Promise<string>): void {
    this.read = read;
  }

  /** Creates the series of these rules, so that the first refusal is an increase. */
  declareRules(names: readonly string[]): void {
    for (const rule of names) this.limits.declare(rule);
  }

  /** Creates the series of these rates, which have a window. */
  declareRates(names: readonly string[]): void {
    this.declareRules(names);
    for (const rule of names) this.nearLimit.inc({ rule }, 0);
  }

  countNearLimit(rule: string): void {
    this.nearLimit.inc({ rule });
  }

  /** Counts a response of the upstream, or its failure. */
  readonly recordUpstream = (kind: UpstreamKind, durationMs: number, failure?: FailureStatus): void => {
    if (failure === undefined) this.upstreamSeconds.observe(kind, durationMs / 1000);
    else this.upstreamFailures.inc({ status: String(failure) });
  };

  readonly recordLookup = (cache: (typeof CACHES)[number], isHit: boolean): void =>
    this.cacheLookups.inc({ cache, result: isHit ? 'hit' : 'miss' });

  readonly countRefusedConnection = (): void => this.refusedConnections.inc();

  readonly countRefusedAfterHangUps = (): void => this.refusedAfterHangUps.inc();

  readonly countUntrustedForwarded = (): void => this.untrustedForwarded.inc();

  /** @param count the number of requests that wait for a connection to the upstream, on one of the ways to it */
  addWaiting(count: () => number): void {
    this.waiting.push(count);
  }

  /** @param shared whether the shared server counts, and not this process on its own */
  showShared(shared: () => boolean): void {
    new Gauge({
      name: 'limits_windows_are_shared',
      help: 'Whether rates are counted on the shared server (1), or by this gateway alone because the server is unavailable (0).',
      registers: [this.registry],
      collect() {
        this.set(shared() ? 1 : 0);
      },
    });
  }

  /** @param bodies the memory of buffered request bodies */
  showBodies(bodies: { readonly usedBytes: number; readonly refused: number }): void {
    new Gauge({
      name: 'limits_buffered_body_bytes',
      help: 'Memory of the request bodies that are read before they are handled.',
      registers: [this.registry],
      collect() {
        this.set(bodies.usedBytes);
      },
    });
    new Gauge({
      name: 'limits_refused_bodies',
      help: 'Request bodies refused with 503 since the start, because the memory for all of them was exhausted.',
      registers: [this.registry],
      collect() {
        this.set(bodies.refused);
      },
    });
  }

  /** @param verifications the number of passwords verified since the start */
  showPasswords(verifications: () => number): void {
    new Gauge({
      name: 'limits_password_verifications',
      help: 'Passwords that the embedded store has verified since its start.',
      registers: [this.registry],
      collect() {
        this.set(verifications());
      },
    });
  }
}

const both =
  (one: DecisionListener, other: DecisionListener): DecisionListener =>
  (rule, outcome) => {
    one(rule, outcome);
    other(rule, outcome);
  };

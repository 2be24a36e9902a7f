import { MemoryRateLimiter, type RateLimiter, type TableStats } from '@headgate/limits-core';
import { Counter, Gauge, type Metric, type Registry } from 'prom-client';

export type LimitOutcome = 'granted' | 'refused' | 'shadow_refused';

/** Called for each decision of a rule, rate or cap. */
export type DecisionListener = (rule: string, outcome: LimitOutcome) => void;

const GAUGES = {
  limits_keys: ['Keys that have a window in memory.', ({ keys }) => keys],
  limits_memory_bytes: ['Memory of the windows.', ({ bytes }) => bytes],
  limits_evicted_keys: ['Keys below their limit that were evicted since the start.', ({ evicted }) => evicted],
  limits_shared_windows: ['Windows opened in a coarse shared bucket since the start.', ({ shared }) => shared],
} as const satisfies Record<string, readonly [help: string, read: (stats: TableStats) => number]>;

/** The limiters that a registry reports on: several applications in one process may share it. */
const limitersOf = new WeakMap<Registry, Map<LimitMetrics, MemoryRateLimiter>>();

/** The metrics of rates and caps. Without a registry, nothing is recorded. */
export class LimitMetrics {
  private readonly registry: Registry | undefined;
  private readonly decisions: Counter<'rule' | 'outcome'> | undefined;

  /** @param limiter its memory is reported if it is in this process */
  constructor(registry?: Registry, limiter?: RateLimiter) {
    if (!registry) return;
    this.registry = registry;
    this.decisions = getOrCreate(
      registry,
      'limits_decisions_total',
      (name) =>
        new Counter({
          name,
          help: 'Decisions of rates and caps, by rule and outcome (granted, refused, shadow_refused).',
          labelNames: ['rule', 'outcome'],
          registers: [registry],
        }),
    );
    if (limiter instanceof MemoryRateLimiter) this.addGauges(registry, limiter);
  }

  readonly recordDecision: DecisionListener = (rule, outcome) => {
    this.decisions?.inc({ rule, outcome });
  };

  /** Stops reporting on the limiter of this application. */
  close(): void {
    if (this.registry) limitersOf.get(this.registry)?.delete(this);
  }

  private addGauges(registry: Registry, limiter: MemoryRateLimiter): void {
    const limiters = limitersOf.get(registry) ?? new Map<LimitMetrics, MemoryRateLimiter>();
    limitersOf.set(registry, limiters.set(this, limiter));
    for (const [gauge, [help, read]] of Object.entries(GAUGES)) {
      getOrCreate(
        registry,
        gauge,
        (name) =>
          new Gauge({
            name,
            help,
            registers: [registry],
            collect() {
              this.set([...new Set(limiters.values())].reduce((sum, { stats }) => sum + read(stats), 0));
            },
          }),
      );
    }
  }
}

function getOrCreate<Kind extends Metric>(registry: Registry, name: string, create: (name: string) => Kind): Kind {
  return (registry.getSingleMetric(name) as Kind | undefined) ?? create(name);
}

import { MemoryRateLimiter, type RateLimiter, type TableStats } from '@headgate/limits-core';

const OUTCOMES = ['granted', 'refused', 'shadow_refused'] as const;

export type LimitOutcome = (typeof OUTCOMES)[number];

/** Called for each decision of a rule, rate or cap. */
export type DecisionListener = (rule: string, outcome: LimitOutcome) => void;

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** A metric as prom-client's registry reads it. */
interface RegistryMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly aggregator: 'sum';
  get(): Promise<{ name: string; help: string; type: string; aggregator: string; values: Sample[] }>;
  reset(): void;
}

/**
 * The part of prom-client's `Registry` that metrics need. Declared here, so that applications without metrics do not
 * need prom-client.
 */
export interface MetricsRegistry {
  getSingleMetric(name: string): unknown;
  // prom-client's own parameter is a class; this interface only has to accept its registry.
  registerMetric(metric: never): void;
}

const GAUGES = {
  limits_keys: ['Keys that have a window in memory.', ({ keys }) => keys],
  limits_memory_bytes: ['Memory of the windows.', ({ bytes }) => bytes],
  limits_evicted_keys: ['Keys below their limit that were evicted since the start.', ({ evicted }) => evicted],
  limits_shared_windows: ['Windows opened in a coarse shared bucket since the start.', ({ shared }) => shared],
} as const satisfies Record<string, readonly [help: string, read: (stats: TableStats) => number]>;

const DECISIONS = 'limits_decisions_total';
const DECISIONS_HELP = 'Decisions of rates and caps, by rule and outcome (granted, refused, shadow_refused).';

/** The metrics of one registry: several applications in one process may share it. */
interface Shared {
  readonly limiters: Map<LimitMetrics, MemoryRateLimiter>;
  /** Decisions by rule and outcome. */
  readonly decisions: Map<string, Map<LimitOutcome, number>>;
}

const sharedBy = new WeakMap<MetricsRegistry, Shared>();

/** The metrics of rates and caps. Without a registry, nothing is recorded. */
export class LimitMetrics {
  private readonly shared: Shared | undefined;

  /** @param limiter its memory is reported if it is in this process */
  constructor(registry?: MetricsRegistry, limiter?: RateLimiter) {
    if (!registry) return;
    const shared = sharedBy.get(registry) ?? { limiters: new Map(), decisions: new Map() };
    sharedBy.set(registry, shared);
    this.shared = shared;
    const counter = { name: DECISIONS, help: DECISIONS_HELP, type: 'counter' } as const;
    register(
      registry,
      counter,
      () => samplesOf(shared),
      () => shared.decisions.clear(),
    );
    if (!(limiter instanceof MemoryRateLimiter)) return;
    shared.limiters.set(this, limiter);
    for (const [name, [help, read]] of Object.entries(GAUGES)) {
      register(registry, { name, help, type: 'gauge' }, () => [
        { value: [...new Set(shared.limiters.values())].reduce((sum, { stats }) => sum + read(stats), 0), labels: {} },
      ]);
    }
  }

  readonly recordDecision: DecisionListener = (rule, outcome) => {
    if (!this.shared) return;
    const { decisions } = this.shared;
    const outcomes = decisions.get(rule) ?? new Map<LimitOutcome, number>();
    decisions.set(rule, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
  };

  /** Creates the series of a rule, with no decision yet. */
  declare(rule: string): void {
    if (!this.shared || this.shared.decisions.has(rule)) return;
    this.shared.decisions.set(rule, new Map(OUTCOMES.map((outcome) => [outcome, 0])));
  }

  /** Stops reporting on the limiter of this application. */
  close(): void {
    this.shared?.limiters.delete(this);
  }
}

const samplesOf = ({ decisions }: Shared): Sample[] =>
  [...decisions].flatMap(([rule, outcomes]) =>
    [...outcomes].map(([outcome, value]) => ({ value, labels: { rule, outcome } })),
  );

function register(
  registry: MetricsRegistry,
  { name, help, type }: Pick<RegistryMetric, 'name' | 'help' | 'type'>,
  samples: () => Sample[],
  reset: () => void = () => undefined,
): void {
  if (registry.getSingleMetric(name)) return;
  const metric: RegistryMetric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, aggregator: 'sum', values: samples() }),
    reset,
  };
  registry.registerMetric(metric as never);
}

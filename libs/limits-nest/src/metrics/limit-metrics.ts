import { RateWindows, type RateStore } from '@headgate/limits-core';
import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { DecisionWatch } from './decision-watch.js';

type TableStats = RateWindows['stats'];

const GAUGES = {
  limits_keys: ['Keys that have a window in memory.', ({ keys }) => keys],
  limits_memory_bytes: ['Memory of the windows.', ({ bytes }) => bytes],
  limits_evicted_keys: ['Keys below their limit that gave way to others since the start.', ({ evicted }) => evicted],
  limits_shared_windows: ['Windows opened in a coarse shared bucket since the start.', ({ shared }) => shared],
} as const satisfies Record<string, readonly [help: string, read: (stats: TableStats) => number]>;

/** The tables that a registry shows: several applications of one process may share it. */
const shown = new WeakMap<Registry, Map<LimitMetrics, RateWindows>>();

/** The series of rates and caps. Without a registry there are none. */
export class LimitMetrics {
  readonly #registry: Registry | undefined;
  readonly #decisions: Counter<'rule' | 'outcome'> | undefined;

  /** @param store its memory is shown when it is in this process */
  constructor(registry?: Registry, store?: RateStore) {
    if (!registry) return;
    this.#registry = registry;
    this.#decisions = series(
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
    if (store instanceof RateWindows) this.#show(registry, store);
  }

  readonly decided: DecisionWatch = (rule, outcome) => {
    this.#decisions?.inc({ rule, outcome });
  };

  /** The table of an application that has ended is shown no longer. */
  close(): void {
    if (this.#registry) shown.get(this.#registry)?.delete(this);
  }

  #show(registry: Registry, windows: RateWindows): void {
    const tables = shown.get(registry) ?? new Map<LimitMetrics, RateWindows>();
    shown.set(registry, tables.set(this, windows));
    for (const [gauge, [help, read]] of Object.entries(GAUGES)) {
      series(
        registry,
        gauge,
        (name) =>
          new Gauge({
            name,
            help,
            registers: [registry],
            collect() {
              this.set([...new Set(tables.values())].reduce((sum, { stats }) => sum + read(stats), 0));
            },
          }),
      );
    }
  }
}

/** The series of this name, made by whoever needs it first. */
function series<Kind extends Metric>(registry: Registry, name: string, make: (name: string) => Kind): Kind {
  return (registry.getSingleMetric(name) as Kind | undefined) ?? make(name);
}

import { RateWindows, type RateStore } from '@headgate/limits-core';
import { Counter, Gauge, type Registry } from 'prom-client';

export type LimitOutcome = 'granted' | 'refused' | 'shadow_refused';

/** The series of rates and caps. */
export class LimitMetrics {
  readonly #decisions: Counter<'rule' | 'outcome'> | undefined;

  constructor(registry?: Registry, store?: RateStore) {
    if (!registry) return;
    this.#decisions = new Counter({
      name: 'limits_decisions_total',
      help: 'Decisions of rates and caps, by rule and outcome (granted, refused, shadow_refused).',
      labelNames: ['rule', 'outcome'],
      registers: [registry],
    });
    if (store instanceof RateWindows) addTableGauges(registry, store);
  }

  decided(rule: string, outcome: LimitOutcome): void {
    this.#decisions?.inc({ rule, outcome });
  }
}

function addTableGauges(registry: Registry, windows: RateWindows): void {
  const gauges = {
    limits_keys: ['Keys that have a window in memory.', () => windows.stats.keys],
    limits_memory_bytes: ['Memory of the windows.', () => windows.stats.bytes],
    limits_evicted_keys: [
      'Keys below their limit that gave way to others since the start.',
      () => windows.stats.evicted,
    ],
    limits_shared_windows: ['Windows opened in a coarse shared bucket since the start.', () => windows.stats.shared],
  } as const;
  for (const [name, [help, read]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
}

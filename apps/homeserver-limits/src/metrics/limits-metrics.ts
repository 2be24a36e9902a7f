import type { MemoryRateLimiter } from '@headgate/limits-core';
import { type DecisionListener, LimitMetrics } from '@headgate/limits-nest';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Every series of this application: those of the rules, of the process, and of the embedded store. */
export class LimitsMetrics {
  readonly registry = new Registry();
  private readonly limits: LimitMetrics;

  constructor(windows: MemoryRateLimiter) {
    this.limits = new LimitMetrics(this.registry, windows);
    collectDefaultMetrics({ register: this.registry });
  }

  /** Told of each decision of a rule. */
  get watch(): DecisionListener {
    return this.limits.recordDecision;
  }

  /** @param shared whether the windows are those of the server that several nodes share */
  showShared(shared: () => boolean): void {
    new Gauge({
      name: 'limits_windows_are_shared',
      help: 'Whether rates are counted on the shared server (1), or on this node alone because it is away (0).',
      registers: [this.registry],
      collect() {
        this.set(shared() ? 1 : 0);
      },
    });
  }

  /** @param verifications passwords looked at since the start */
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

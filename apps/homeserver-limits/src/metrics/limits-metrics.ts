import type { RateWindows } from '@headgate/limits-core';
import { LimitMetrics, type LimitOutcome } from '@headgate/limits-nest';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Told of each decision of a rule. */
export type DecisionWatch = (rule: string, outcome: LimitOutcome) => void;

/** Every series of this application: those of the rules, of the process, and of the embedded store. */
export class LimitsMetrics {
  readonly registry = new Registry();
  private readonly limits: LimitMetrics;

  constructor(windows: RateWindows) {
    this.limits = new LimitMetrics(this.registry, windows);
    collectDefaultMetrics({ register: this.registry });
  }

  readonly watch: DecisionWatch = (rule, outcome) => this.limits.decided(rule, outcome);

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

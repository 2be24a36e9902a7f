import type { MemoryRateLimiter } from '@headgate/limits-core';
import { type DecisionListener, LimitMetrics } from '@headgate/limits-nest';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { RuleListener } from '../rules/rule.js';

/** The token of the function that receives each decision of a rule. */
export const DECISION_LISTENER = Symbol('DecisionListener');
/** The token of the listener of the rules: everything that reports their decisions. */
export const RULE_LISTENER = Symbol('RuleListener');

/** Counts the decisions of rules. */
export const countDecisions = (watch: DecisionListener): RuleListener => ({
  onGranted: (rule) => watch(rule, 'granted'),
  onRefused: ({ rule }, _facts, isShadow) => watch(rule, isShadow ? 'shadow_refused' : 'refused'),
});

/** Every series of this application: those of the rules, the process and the embedded store. */
export class LimitsMetrics {
  readonly registry = new Registry();
  private readonly limits: LimitMetrics;

  constructor(windows: MemoryRateLimiter) {
    this.limits = new LimitMetrics(this.registry, windows);
    collectDefaultMetrics({ register: this.registry });
  }

  /** Receives each decision of a rule. */
  get watch(): DecisionListener {
    return this.limits.recordDecision;
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

import type { SandboxClock } from '@headgate/kube-sandbox';

/** Records since when each object waits in each step, so that a controller can simply ask whether the duration has passed. */
export class Delays {
  private readonly due = new Map<string, Map<string, number>>();

  constructor(private readonly clock: SandboxClock) {}

  /**
   * Whether `ms` have passed since the first call for the object and step. If not, `wake` is called as soon as they
   * have.
   */
  passed(uid: string, step: string, ms: number, wake: () => void): boolean {
    if (ms <= 0) return true;
    const steps = this.due.get(uid) ?? new Map<string, number>();
    const known = steps.get(step);
    if (known !== undefined) return this.clock.now() >= known;
    // Whole milliseconds: timers truncate fractions and would fire too early.
    const wait = Math.ceil(ms);
    this.due.set(uid, steps.set(step, this.clock.now() + wait));
    this.clock.schedule(wake, wait);
    return false;
  }

  /** Whether this is the first call for the object and step. */
  first(uid: string, step: string): boolean {
    const steps = this.due.get(uid) ?? new Map<string, number>();
    if (steps.has(step)) return false;
    this.due.set(uid, steps.set(step, this.clock.now()));
    return true;
  }

  /** Starts the step over at its next call. */
  reset(uid: string, step: string): void {
    this.due.get(uid)?.delete(step);
  }

  /** Discards the steps of a deleted object. */
  forget(uid: string): void {
    this.due.delete(uid);
  }
}

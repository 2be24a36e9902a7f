import type { SandboxClock } from '@headgate/kube-sandbox';

/** Remembers since when each object waits for what, so that a controller can simply ask whether enough time has passed. */
export class Delays {
  private readonly due = new Map<string, Map<string, number>>();

  constructor(private readonly clock: SandboxClock) {}

  /**
   * Whether `ms` have passed since this was first asked for the object and step. When not, `wake` is called as soon as
   * they have.
   */
  passed(uid: string, step: string, ms: number, wake: () => void): boolean {
    if (ms <= 0) return true;
    const steps = this.due.get(uid) ?? new Map<string, number>();
    const known = steps.get(step);
    if (known !== undefined) return this.clock.now() >= known;
    // Whole milliseconds: the machine's timers cut fractions off and would wake too early.
    const wait = Math.ceil(ms);
    this.due.set(uid, steps.set(step, this.clock.now() + wait));
    this.clock.schedule(wake, wait);
    return false;
  }

  /** Whether this is asked for the object and step for the first time. */
  first(uid: string, step: string): boolean {
    const steps = this.due.get(uid) ?? new Map<string, number>();
    if (steps.has(step)) return false;
    this.due.set(uid, steps.set(step, this.clock.now()));
    return true;
  }

  /** The step begins anew when it is asked for again. */
  reset(uid: string, step: string): void {
    this.due.get(uid)?.delete(step);
  }

  /** Drops what is known of an object that is gone. */
  forget(uid: string): void {
    this.due.delete(uid);
  }
}

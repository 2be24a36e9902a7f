import type { Cancel, SandboxClock } from '@headgate/kube-sandbox';

type Wait = Cancel | 'passed';

/** The waits and one-time steps of objects, so that a controller can simply ask whether a step has taken its time. */
export class Delays {
  private readonly waits = new Map<string, Map<string, Wait>>();
  private readonly seen = new Map<string, Set<string>>();

  constructor(private readonly clock: SandboxClock) {}

  /**
   * Whether `ms` have passed since the first call for the object and step. Otherwise `wake` is called as soon as they
   * have. The timer decides and not the time of day: a timer may fire a little early, and a clock can be set back.
   */
  passed(uid: string, step: string, ms: number, wake: () => void): boolean {
    if (ms <= 0) return true;
    const waits = this.waits.get(uid) ?? new Map<string, Wait>();
    const known = waits.get(step);
    if (known !== undefined) return known === 'passed';
    this.waits.set(uid, waits);
    const cancel = this.clock.schedule(() => {
      waits.set(step, 'passed');
      wake();
    }, Math.ceil(ms));
    waits.set(step, cancel);
    return false;
  }

  /** Whether this is the first call for the object and step. */
  first(uid: string, step: string): boolean {
    const steps = this.seen.get(uid) ?? new Set<string>();
    if (steps.has(step)) return false;
    this.seen.set(uid, steps.add(step));
    return true;
  }

  /** The next call for this step starts its wait again. */
  reset(uid: string, step: string): void {
    const waits = this.waits.get(uid);
    cancelWait(waits?.get(step));
    waits?.delete(step);
  }

  /** Discards the state of a deleted object. */
  forget(uid: string): void {
    for (const wait of this.waits.get(uid)?.values() ?? []) cancelWait(wait);
    this.waits.delete(uid);
    this.seen.delete(uid);
  }
}

function cancelWait(wait: Wait | undefined): void {
  if (typeof wait === 'function') wait();
}

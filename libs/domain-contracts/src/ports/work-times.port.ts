import type { TimedSteps } from '../model/plan.js';
import type { Work } from '../model/work.js';

/** Remembers how long work took, and adds that to the plans of the same kind of work. */
export abstract class WorkTimes {
  /**
   * Measures a request from here to its end, unless it fails. If it starts a task, that is measured instead.
   * @throws what `run` throws
   */
  abstract during<T>(work: Work, run: () => Promise<T>): Promise<T>;

  /** Counts work that was measured elsewhere, such as one that ends after its request. */
  abstract record(work: Work, seconds: number): void;

  /** The plan with the durations of past runs, if there are any. */
  abstract inPlan<P extends TimedSteps>(work: Work, plan: P): P;
}

import { DomainError, type ErrorCode } from '../values/domain-error.js';
import type { MeasuredSeconds } from './measured-seconds.js';

/** One step of a use case. */
export interface PlanStep {
  readonly name: string;
  readonly detail: string;
  /** The names of the task's steps, or of their parts, that carry it out; its own by default. Not for users. */
  readonly reportedAs?: readonly string[];
  /** How long past runs of the step took. Added by `WorkTimes`. */
  readonly seconds?: MeasuredSeconds;
}

/** What `WorkTimes` adds to a plan. */
export interface TimedSteps {
  readonly steps: readonly PlanStep[];
  /** How long past runs of the whole work took. */
  readonly seconds?: MeasuredSeconds;
  /** How long the guest did not run during them. */
  readonly interruption?: MeasuredSeconds;
}

/** The reason why a use case would be refused, and the remedy. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly remedy: string;
}

export const refusal = (code: ErrorCode, reason: string, remedy: string): Refusal => ({ code, reason, remedy });

/** The steps of a mutating use case: the response to `?dryRun=true`. The real run takes exactly these steps. */
export interface Plan extends TimedSteps {
  readonly warnings: readonly string[];
  readonly refusals: readonly Refusal[];
}

/** A plan that may have more than steps, and refusals of other kinds. */
export type AnyPlan = Pick<Plan, 'warnings'>;

export const buildPlan = (steps: readonly PlanStep[], extra: Partial<Omit<Plan, 'steps'>> = {}): Plan => ({
  steps,
  warnings: extra.warnings ?? [],
  refusals: extra.refusals ?? [],
});

/** @throws DomainError the first refusal, if there is one, with all of them in `details` */
export function throwFirstRefusal({ refusals }: Pick<Plan, 'refusals'>): void {
  const [first] = refusals;
  if (first) throw new DomainError(first.code, first.reason, { details: { refusals } });
}

/** The ID in a plan of something that gets a new one when it is carried out. A plan never becomes real. */
export const REHEARSAL_ID = '00000000-0000-4000-8000-000000000000';

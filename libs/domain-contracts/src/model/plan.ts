import { DomainError, type ErrorCode } from '../values/domain-error.js';

/** One thing a use case is about to do. */
export interface PlanStep {
  readonly name: string;
  readonly detail: string;
}

/** Why a use case will not be carried out, and what would help. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly remedy: string;
}

/** What a mutating use case would do: the answer to `?dryRun=true`. Carrying it out does exactly these steps. */
export interface Plan {
  readonly steps: readonly PlanStep[];
  readonly warnings: readonly string[];
  readonly refusals: readonly Refusal[];
}

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

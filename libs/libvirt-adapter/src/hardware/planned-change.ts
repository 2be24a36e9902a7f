import {
  buildPlan,
  type ErrorCode,
  type HardwareEffect,
  type HardwarePlan,
  type HardwareResult,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';

/** A plan with the function that carries out exactly its steps. */
export interface PlannedChange {
  readonly plan: HardwarePlan;
  readonly run: () => Promise<Omit<HardwareResult, 'effect'> | void>;
}

export const refusal = (code: ErrorCode, reason: string, remedy: string): Refusal => ({ code, reason, remedy });

export const refused = (...refusals: readonly Refusal[]): PlannedChange => ({
  plan: { ...buildPlan([], { refusals }), effect: 'now' },
  run: () => Promise.resolve(),
});

/** The VM is already as requested. */
export const nothingToDo: PlannedChange = { plan: { ...buildPlan([]), effect: 'now' }, run: () => Promise.resolve() };

export const planned = (
  effect: HardwareEffect,
  steps: readonly PlanStep[],
  run: PlannedChange['run'],
  warnings: readonly string[] = [],
): PlannedChange => ({ plan: { ...buildPlan(steps, { warnings }), effect }, run });

import type { HardwareEffect, HardwarePlan, HardwareResult } from './hardware.js';
import { buildPlan, type PlanStep, type Refusal } from './plan.js';

/** The plan of a hardware change with the function that carries out exactly its steps. */
export interface PlannedChange {
  readonly plan: HardwarePlan;
  readonly run: () => Promise<Omit<HardwareResult, 'effect'> | void>;
}

export interface PlannedSteps {
  readonly effect: HardwareEffect;
  readonly steps: readonly PlanStep[];
  readonly warnings?: readonly string[];
  readonly run: PlannedChange['run'];
}

export const plannedChange = ({ effect, steps, warnings = [], run }: PlannedSteps): PlannedChange => ({
  plan: { ...buildPlan(steps, { warnings }), effect },
  run,
});

export const refusedChange = (...refusals: readonly Refusal[]): PlannedChange => ({
  plan: { ...buildPlan([], { refusals }), effect: 'now' },
  run: () => Promise.resolve(),
});

/** The VM is already as requested. */
export const noChange: PlannedChange = plannedChange({ effect: 'now', steps: [], run: () => Promise.resolve() });

import {
  buildPlan,
  type ErrorCode,
  type HardwareEffect,
  type HardwarePlan,
  type HardwareResult,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';
import type { JsonPatchOperation } from '../api/kube-api.js';

/** A plan with the function that carries out exactly its steps. */
export interface PlannedChange {
  readonly plan: HardwarePlan;
  /** The patch of the VM that `run` sends, so that a rehearsal can send it as a dry run. */
  readonly patch?: readonly JsonPatchOperation[];
  readonly run: () => Promise<Omit<HardwareResult, 'effect'> | void>;
}

export const refusal = (code: ErrorCode, reason: string, remedy: string): Refusal => ({ code, reason, remedy });

export const refused = (...refusals: readonly Refusal[]): PlannedChange => ({
  plan: { ...buildPlan([], { refusals }), effect: 'now' },
  run: () => Promise.resolve(),
});

/** The VM is already as requested. */
export const nothingToDo: PlannedChange = { plan: { ...buildPlan([]), effect: 'now' }, run: () => Promise.resolve() };

export interface PlannedSteps {
  readonly effect: HardwareEffect;
  readonly steps: readonly PlanStep[];
  readonly warnings?: readonly string[];
  readonly patch?: readonly JsonPatchOperation[];
  readonly run: PlannedChange['run'];
}

export const planned = ({ effect, steps, warnings = [], patch, run }: PlannedSteps): PlannedChange => ({
  plan: { ...buildPlan(steps, { warnings }), effect },
  ...(patch && { patch }),
  run,
});

/** Replaces a value, if it is still the one that the change was planned with. */
export const replaceIfSame = (path: string, before: unknown, after: unknown): JsonPatchOperation[] => [
  { op: 'test', path, value: before ?? null },
  { op: 'add', path, value: after },
];

const SPEC = '/spec/template/spec';
export const VM_PATHS = {
  volumes: `${SPEC}/volumes`,
  networks: `${SPEC}/networks`,
  disks: `${SPEC}/domain/devices/disks`,
  interfaces: `${SPEC}/domain/devices/interfaces`,
  cpu: `${SPEC}/domain/cpu`,
  memory: `${SPEC}/domain/memory`,
} as const;

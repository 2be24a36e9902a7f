import { plannedChange, type PlannedChange as AnyPlannedChange, type PlannedSteps } from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { JsonPatchOperation } from '../api/json-patch.js';
import type { VmiObject } from '../api/object-types.js';

interface WithPatch {
  /** The patch of the VM that `run` sends, so that a rehearsal can send it as a dry run. */
  readonly patch?: readonly JsonPatchOperation[];
}

export interface PlannedPatch extends AnyPlannedChange, WithPatch {
  /** Present if the change is nothing but its patch, which can be sent together with those of other changes. */
  readonly applied?: AppliedPatch;
}

/** How the running guest gets a change of its VM. */
export interface AppliedPatch {
  /** Whether KubeVirt has applied the change to the live instance. Absent if the guest gets it at its next start. */
  readonly isApplied?: (vmi: VmiObject) => boolean;
  /** Whether the guest is restarted if KubeVirt does not apply a change to it that it could apply. */
  readonly restartsInstead?: boolean;
}

export const planned = ({ patch, ...steps }: PlannedSteps & WithPatch): PlannedPatch => ({
  ...plannedChange(steps),
  ...(patch && { patch }),
});

/** Replaces a value, if it is still the one that the change was planned with. */
export const replaceIfSame = (path: string, before: unknown, after: unknown): JsonPatchOperation[] => [
  { op: 'test', path, value: before ?? null },
  { op: 'add', path, value: after },
];

/** The API server refuses a patch whose test fails with 422, and a plain text. */
export const isTestFailure = (error: unknown): boolean =>
  KubeApiError.has(error, 422) && /error in our request|test(?:ing)? .*failed|^$/i.test(error.response.text);

const SPEC = '/spec/template/spec';
export const VM_PATHS = {
  volumes: `${SPEC}/volumes`,
  networks: `${SPEC}/networks`,
  disks: `${SPEC}/domain/devices/disks`,
  interfaces: `${SPEC}/domain/devices/interfaces`,
  gpus: `${SPEC}/domain/devices/gpus`,
  hostDevices: `${SPEC}/domain/devices/hostDevices`,
  cpu: `${SPEC}/domain/cpu`,
  memory: `${SPEC}/domain/memory`,
} as const;

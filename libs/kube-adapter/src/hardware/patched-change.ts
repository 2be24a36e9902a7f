import type { PlannedSteps } from '@headgate/domain-contracts';
import type { JsonPatchOperation } from '../api/json-patch.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { migrateToApply, observe, restart, untilCompared } from './live-changes.js';
import { planned, type AppliedPatch, type PlannedPatch } from './planned-change.js';
import type { HardwareDeps, VmState } from './vm-hardware.js';

export interface PatchedSteps extends Omit<PlannedSteps, 'run'>, AppliedPatch {
  readonly patch: readonly JsonPatchOperation[];
}

/** A change that is nothing but a patch of the VM, which its running guest gets afterwards. */
export const patchedChange = (deps: HardwareDeps, state: VmState, change: PatchedSteps): PlannedPatch => {
  const { isApplied, restartsInstead, ...steps } = change;
  const applied = { ...(isApplied && { isApplied }), ...(restartsInstead && { restartsInstead }) };
  return { ...planned({ ...steps, run: () => sendPatch(deps, state, change) }), applied };
};

/** Patches the VM, and waits until its guest has the change, or until a reader sees that it waits for a restart. */
export async function sendPatch(
  deps: HardwareDeps,
  state: VmState,
  { patch, effect, isApplied, restartsInstead }: Pick<PatchedSteps, 'patch' | 'effect' | keyof AppliedPatch>,
): Promise<void> {
  await deps.api.jsonPatch(VIRTUAL_MACHINES, state.ref, patch);
  if (!state.vmi) return;
  // A restart that comes before KubeVirt has compared the configurations would leave its condition behind.
  if (effect === 'restart' || !isApplied) await untilCompared(deps, state.ref);
  if (effect === 'restart') return restart(deps, state);
  if (!isApplied) return;
  if (await observe(deps, state.ref, isApplied)) return migrateToApply(deps, state);
  if (restartsInstead) await restart(deps, state);
}

import {
  appliedByRestart,
  lastEffect,
  type HardwareChange,
  type HardwareChangeKind,
  type HardwareEffect,
  type HardwarePlan,
} from '@headgate/domain-contracts';
import { patchedObject, type JsonPatchOperation } from '../api/json-patch.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { sizeOfSpec } from '../inventory/guest-size.js';
import { awaitsRestart } from './live-changes.js';
import { sendPatch } from './patched-change.js';
import type { PlannedPatch } from './planned-change.js';
import type { HardwareDeps, VmState } from './vm-hardware.js';

const PATCHES: ReadonlySet<HardwareChangeKind> = new Set<HardwareChangeKind>([
  'add-nic',
  'change-nic',
  'remove-nic',
  'attach-host-device',
  'detach-host-device',
  'set-boot-order',
  'set-placement',
  'scale',
]);

/** Whether a change is nothing but a patch of its VM. */
export const isPatch = ({ kind }: HardwareChange): boolean => PATCHES.has(kind);

type Planner = (state: VmState, change: HardwareChange) => Promise<PlannedPatch>;

const WAITS =
  'KubeVirt applies none of the changes to the running guest while one of them waits for a restart: make the others in a request of their own to have them at once.';

/** Several changes of a VM as one patch, which the cluster applies as a whole or not at all. */
export class CombinedPatch {
  private constructor(
    /** In the order of the changes. */
    readonly plans: readonly HardwarePlan[],
    readonly patch: readonly JsonPatchOperation[],
    readonly run: () => Promise<void>,
  ) {}

  /** Plans each change for the VM as the changes before it leave it. */
  static async of(
    deps: HardwareDeps,
    state: VmState,
    changes: readonly HardwareChange[],
    planOf: Planner,
  ): Promise<CombinedPatch> {
    let planned = await planInTurn(state, changes, planOf);
    const waiting = planned.filter(isWaiting);
    const isMixed = waiting.length > 0 && planned.some(({ applied }) => applied?.isApplied !== undefined);
    if (state.vmi && isMixed) planned = await planInTurn(waitingForRestart(state), changes, planOf);
    const due = planned.filter(({ plan }) => plan.steps.length > 0);
    const effect = lastEffect(due.map(({ plan }) => plan.effect));
    const patch = due.flatMap((one) => one.patch ?? []);
    const isLive = due.length > 0 && due.every(({ applied }) => applied?.isApplied);
    const run = async (): Promise<void> => {
      if (due.length === 0) return;
      await sendPatch(deps, state, {
        patch,
        effect,
        restartsInstead: due.some(({ applied }) => applied?.restartsInstead === true),
        ...(isLive && {
          isApplied: (vmi: VmiObject) => due.every(({ applied }) => applied?.isApplied?.(vmi) === true),
        }),
      });
    };
    return new CombinedPatch(planOnce(planned, effect, isMixed), patch, run);
  }
}

const isWaiting = ({ plan, applied }: PlannedPatch): boolean =>
  plan.steps.length > 0 && applied?.isApplied === undefined;

async function planInTurn(
  state: VmState,
  changes: readonly HardwareChange[],
  planOf: Planner,
): Promise<PlannedPatch[]> {
  const planned: PlannedPatch[] = [];
  let now = state;
  for (const change of changes) {
    const one = await planOf(now, change);
    planned.push(one);
    if (one.patch) now = afterPatch(now, one.patch);
  }
  return planned;
}

function afterPatch(state: VmState, patch: readonly JsonPatchOperation[]): VmState {
  const vm = patchedObject<VmObject>(state.vm, patch);
  const spec = vm.spec?.template?.spec ?? {};
  const { cpu = state.size.cpu, memoryBytes = state.size.memoryBytes } = sizeOfSpec(spec);
  return { ...state, vm, spec, size: { cpu, memoryBytes } };
}

/** The VM as KubeVirt sees it once it has a change that waits for a restart. */
function waitingForRestart(state: VmState): VmState {
  if (awaitsRestart(state)) return state;
  const { status } = state.vm;
  const conditions = [...(status?.conditions ?? []), { type: 'RestartRequired', status: 'True' as const }];
  return { ...state, vm: { ...state.vm, status: { ...status, conditions } } };
}

/** One restart or one migration applies all changes, so only the last of those steps is shown. */
function planOnce(planned: readonly PlannedPatch[], effect: HardwareEffect, isMixed: boolean): HardwarePlan[] {
  const shared = new Set(['migrate', 'restart']);
  const last = planned.findLastIndex(({ plan }) => plan.steps.some(({ name }) => shared.has(name)));
  return planned.map(({ plan }, index) => {
    if (plan.steps.length === 0) return plan;
    const steps = index === last ? plan.steps : plan.steps.filter(({ name }) => !shared.has(name));
    if (effect === 'restart') return { ...appliedByRestart(plan), steps };
    return { ...plan, steps, warnings: isMixed ? [...plan.warnings, WAITS] : plan.warnings };
  });
}

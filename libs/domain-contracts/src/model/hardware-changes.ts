import type { HardwareChange, HardwareChangeKind, HardwareEffect, HardwarePlan } from './hardware.js';

/** The number of changes that one request may have, which fits into the limit of all bodies. */
export const MAX_HARDWARE_CHANGES = 24;

/** A change of a request. */
export interface IndexedHardwareChange {
  readonly change: HardwareChange;
  /** Its place in the request, counted from 0. */
  readonly index: number;
}

/** A change with its plan. */
export interface PlannedHardwareChange extends IndexedHardwareChange {
  readonly plan: HardwarePlan;
}

/** Changes that are carried out together, all of them or none. */
export type HardwareChangeGroup = readonly PlannedHardwareChange[];

/**
 * The order in which the changes of one request are carried out. What can be taken back comes before what can't, so
 * that a failure destroys as little as possible, and what may restart the guest comes last: that restart applies the
 * other changes as well.
 */
const ORDER: readonly HardwareChangeKind[] = [
  'expand-volume',
  'attach-volume',
  'change-medium',
  'add-nic',
  'change-nic',
  'attach-host-device',
  'set-autostart',
  'set-boot-order',
  'detach-host-device',
  'remove-nic',
  'detach-volume',
  'set-placement',
  'scale',
];

const EFFECTS: readonly HardwareEffect[] = ['now', 'next-start', 'restart'];

/** Changes of one kind stay in the order of the request. */
export const inOrder = (changes: readonly HardwareChange[]): IndexedHardwareChange[] =>
  changes
    .map((change, index) => ({ change, index }))
    .sort((a, b) => ORDER.indexOf(a.change.kind) - ORDER.indexOf(b.change.kind));

/** When the last of several changes takes effect. */
export const lastEffect = (effects: readonly HardwareEffect[]): HardwareEffect =>
  EFFECTS.findLast((one) => effects.includes(one)) ?? 'now';

/**
 * Lets only the last change that restarts the guest do so: the restart applies those before it as well, which are
 * planned again without a restart of their own.
 */
export async function withOneRestart(
  planned: readonly PlannedHardwareChange[],
  planAgain: (change: HardwareChange) => Promise<HardwarePlan>,
): Promise<PlannedHardwareChange[]> {
  const last = planned.findLastIndex(({ plan }) => plan.effect === 'restart');
  const result: PlannedHardwareChange[] = [];
  for (const [index, one] of planned.entries()) {
    if (index >= last || one.plan.effect === 'now' || one.plan.steps.length === 0) result.push(one);
    else if (one.plan.effect === 'next-start') result.push(atRestart(one));
    else {
      const change = { ...one.change, restart: false } as HardwareChange;
      result.push(atRestart({ ...one, change, plan: await planAgain(change) }));
    }
  }
  return result;
}

const atRestart = (one: PlannedHardwareChange): PlannedHardwareChange => ({ ...one, plan: appliedByRestart(one.plan) });

/** The plan of a change that waits for the next start, which comes with another change. */
export const appliedByRestart = (plan: HardwarePlan): HardwarePlan =>
  plan.effect !== 'next-start'
    ? plan
    : { ...plan, effect: 'restart', warnings: plan.warnings.filter((text) => !KEEPS.test(text)) };

/** The warning of every backend that the running VM stays as it is, which a restart makes wrong. */
const KEEPS = /^The running VM keeps /;

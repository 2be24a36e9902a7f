import {
  Change,
  formatRef,
  isVm,
  throwFirstRefusal,
  workOn,
  type Caller,
  type HardwareEffect,
  type Instance,
  type InstanceQuery,
  type InstanceRef,
  type PendingSetting,
  type Plan,
} from '@headgate/domain-contracts';
import { findChangeable } from '../find-changeable.js';
import type { InstanceChangeDeps } from '../instance-change.js';
import { withApplied } from '../with-applied.js';
import { tagChanges, type InstancePatch } from './instance-patch.js';
import { partsOf, type PatchField, type PatchPart } from './patch-parts.js';

export interface PatchOutcome {
  /** The fields that were not as declared. */
  readonly changed: readonly PatchField[];
  /** When the last of the changes takes effect. */
  readonly effect: HardwareEffect;
  /** What takes effect only when the VM is started the next time, with the value until then. */
  readonly pending: readonly PendingSetting[];
}

/** The instance of a patch, as it was before the reservation. */
interface PatchTarget {
  readonly instance: Instance;
  readonly patch: InstancePatch;
}

const EFFECTS: readonly HardwareEffect[] = ['now', 'next-start', 'restart'];

/**
 * Makes an instance what a patch declares, under one reservation. All parts are planned before the first one is carried
 * out, so that nothing is changed when one of them is refused.
 */
export class PatchInstance extends Change<[query: InstanceQuery, patch: InstancePatch], PatchOutcome, PatchTarget> {
  constructor(private readonly deps: InstanceChangeDeps) {
    super();
  }

  protected override prepare(query: InstanceQuery, patch: InstancePatch): PatchTarget {
    return { instance: findChangeable(this.deps.directory, query), patch };
  }

  protected override planPrepared({ instance, patch }: PatchTarget): Promise<Plan> {
    const parts = this.partsOf(instance, patch);
    return this.deps.reservations.plan(workOn('patch', instance.ref), async () => (await planParts(parts)).plan);
  }

  /**
   * @throws DomainError the first refusal, with all of them in `details`; an error whose `details.applied` lists the
   *   changes before it
   */
  protected override runPrepared({ instance: known, patch }: PatchTarget, caller: Caller): Promise<PatchOutcome> {
    const { ref, uid } = known;
    return this.deps.reservations.during(workOn('patch', ref), async () => {
      const instance = findChangeable(this.deps.directory, { ...ref, uid });
      const { plan, due } = await planParts(this.partsOf(instance, patch));
      await caller.rehearsed?.expectSame({ ref: formatRef(ref), uid }, async () => plan);
      throwFirstRefusal(plan);
      const effects = await this.applyAll(ref, due, caller);
      const changed = [...new Set(due.map(({ field }) => field))];
      const effect = EFFECTS.findLast((one) => effects.includes(one)) ?? 'now';
      return { changed, effect, pending: await this.settle(ref, changed, patch) };
    });
  }

  private partsOf(instance: Instance, patch: InstancePatch): PatchPart[] {
    return partsOf(instance, this.deps.backends.get(instance.ref.context), patch);
  }

  private async applyAll(ref: InstanceRef, parts: readonly PatchPart[], caller: Caller): Promise<HardwareEffect[]> {
    const effects: HardwareEffect[] = [];
    for (const [index, part] of parts.entries()) {
      try {
        effects.push(await this.deps.audit.of(caller, part.action, ref, () => part.run()));
      } catch (error) {
        throw withApplied(
          error,
          parts.slice(0, index).map(({ action }) => action),
          'A part of the patch',
        );
      }
    }
    return effects;
  }

  /** Waits until the next request sees the changes. */
  private async settle(
    ref: InstanceRef,
    changed: readonly PatchField[],
    patch: InstancePatch,
  ): Promise<readonly PendingSetting[]> {
    const isHardware = changed.includes('size') || changed.includes('autostart');
    const pending = isHardware
      ? (await this.deps.backends.get(ref.context).require('hardware').read(ref)).pending
      : undefined;
    await this.deps.directory.waitFor(ref, (instance) => instance === undefined || isSettled(instance, patch, pending));
    return pending ?? [];
  }
}

function isSettled(instance: Instance, patch: InstancePatch, pending: readonly PendingSetting[] | undefined): boolean {
  if (tagChanges(instance.tags, patch).length > 0) return false;
  if (!isVm(instance)) return true;
  if (instance.protected !== (patch.isProtected ?? instance.protected)) return false;
  return pending === undefined || instance.restartRequired === pending.length > 0;
}

/** The plan of all parts, and those that change something. */
async function planParts(parts: readonly PatchPart[]): Promise<{ readonly plan: Plan; readonly due: PatchPart[] }> {
  const plans: Plan[] = [];
  for (const part of parts) plans.push(await part.plan());
  return {
    plan: {
      steps: plans.flatMap(({ steps }) => steps),
      warnings: [...new Set(plans.flatMap(({ warnings }) => warnings))],
      refusals: plans.flatMap(({ refusals }) => refusals),
    },
    due: parts.filter((_part, index) => (plans[index]?.steps.length ?? 0) > 0),
  };
}

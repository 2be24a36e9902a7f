import {
  Change,
  describeHardwareChange,
  formatRef,
  lastEffect,
  throwFirstRefusal,
  workOn,
  type Caller,
  type Hardware,
  type HardwareChange,
  type HardwareChangeGroup,
  type HardwareEffect,
  type HardwareResult,
  type Instance,
  type InstanceHardware,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type Refusal,
  type Work,
} from '@headgate/domain-contracts';
import { findChangeable } from '../find-changeable.js';
import type { InstanceChangeDeps } from '../instance-change.js';
import { settledHardware, type HardwareOutcome } from './change-hardware.js';
import { withApplied } from '../with-applied.js';
import { hardwareConflicts } from './hardware-conflicts.js';
import { changedValue, type ChangedValue } from './hardware-values.js';
import { planWithPossibleName, withPossibleName } from './refuse-impossible-names.js';

/** A change of a request, with the values before and after it. */
export interface ChangePlan extends Plan, ChangedValue {
  /** Its place in the request, counted from 0. */
  readonly index: number;
  /** Such as `add a disk of 10Gi`. */
  readonly action: string;
  readonly effect: HardwareEffect;
}

export interface TogetherPlan extends Plan {
  /** In the order in which they are carried out. */
  readonly changes: readonly ChangePlan[];
  /** When the last of them takes effect. */
  readonly effect: HardwareEffect;
}

/** A change that was carried out. */
export interface AppliedChange {
  readonly index: number;
  readonly action: string;
  readonly effect: HardwareEffect;
  /** The name of the volume that was created or attached. */
  readonly volume?: string;
}

export interface TogetherOutcome extends HardwareOutcome {
  /** In the order in which they were carried out. Those that had nothing to change are left out. */
  readonly changes: readonly AppliedChange[];
}

interface PlannedGroups {
  readonly hardware: Hardware;
  readonly conflicts: readonly Refusal[];
  readonly groups: readonly HardwareChangeGroup[];
}

function togetherPlan({ hardware, conflicts, groups }: PlannedGroups): TogetherPlan {
  const changes = groups.flat().map(({ index, change, plan }): ChangePlan => ({
    ...plan,
    index,
    action: describeHardwareChange(change),
    ...changedValue(hardware, change),
  }));
  const due = changes.filter(({ steps }) => steps.length > 0);
  return {
    steps: changes.flatMap(({ steps }) => steps),
    warnings: [...new Set(changes.flatMap(({ warnings }) => warnings))],
    refusals: [...conflicts, ...changes.flatMap(({ refusals }) => refusals)],
    changes,
    effect: lastEffect(due.map(({ effect }) => effect)),
  };
}

/** The instance of a request, as it was before the reservation. */
interface Target {
  readonly instance: Instance;
  readonly changes: readonly HardwareChange[];
}

/**
 * Makes several changes of the hardware of an instance, under one reservation. All are planned before the first one is
 * carried out, so that nothing is changed when one of them is refused.
 */
export class ChangeHardwareTogether extends Change<
  [query: InstanceQuery, changes: readonly HardwareChange[]],
  TogetherOutcome,
  Target,
  TogetherPlan
> {
  constructor(private readonly deps: InstanceChangeDeps) {
    super();
  }

  protected override prepare(query: InstanceQuery, changes: readonly HardwareChange[]): Target {
    return { instance: findChangeable(this.deps.directory, query), changes };
  }

  protected override async planPrepared({ instance: { ref }, changes }: Target): Promise<TogetherPlan> {
    return this.deps.reservations.plan(workOf(ref, changes), async () =>
      togetherPlan(await this.planGroups(ref, changes)),
    );
  }

  /**
   * @throws DomainError the first refusal, with all of them in `details`; an error whose `details.applied` lists the
   *   changes before it, and `details.indexes` their places
   */
  protected override runPrepared({ instance: known, changes }: Target, caller: Caller): Promise<TogetherOutcome> {
    const { ref, uid } = known;
    return this.deps.reservations.during(workOf(ref, changes), async () => {
      findChangeable(this.deps.directory, { ...ref, uid });
      const planned = await this.planGroups(ref, changes);
      const { conflicts, groups } = planned;
      await caller.rehearsed?.expectSame({ ref: formatRef(ref), uid }, async () => togetherPlan(planned));
      const refusals = [...conflicts, ...groups.flat().flatMap(({ plan }) => plan.refusals)];
      throwFirstRefusal({ refusals });
      const applied = await this.applyAll(ref, groups, caller);
      const { pending, applying } = await settledHardware(this.deps.directory, ref, this.abilityOf(ref));
      return { changes: applied, effect: lastEffect(applied.map(({ effect }) => effect)), pending, applying };
    });
  }

  private abilityOf({ context, kind }: InstanceRef): InstanceHardware {
    return this.deps.backends.get(context).requireFor(kind, 'hardware');
  }

  private async planGroups(ref: InstanceRef, changes: readonly HardwareChange[]): Promise<PlannedGroups> {
    const ability = this.abilityOf(ref);
    const hardware = await ability.read(ref);
    const conflicts = hardwareConflicts(hardware, changes);
    // Changes that exclude each other have no plan together.
    if (conflicts.length > 0) return { hardware, conflicts, groups: [] };
    const groups = await ability.planAll(ref, changes);
    for (const { change, plan } of groups.flat()) await planWithPossibleName(change, async () => plan);
    return { hardware, conflicts, groups };
  }

  private async applyAll(
    ref: InstanceRef,
    groups: readonly HardwareChangeGroup[],
    caller: Caller,
  ): Promise<AppliedChange[]> {
    const applied: AppliedChange[] = [];
    for (const group of groups) {
      const due = group.filter(({ plan }) => plan.steps.length > 0);
      if (due.length === 0) continue;
      const action = due.map(({ change }) => describeHardwareChange(change)).join('; ');
      try {
        const results = await this.deps.audit.of(caller, action, ref, () => this.applyGroup(ref, due));
        applied.push(
          ...due.map(({ index, change, plan }, at) => appliedChange(index, change, results[at] ?? plan, plan.effect)),
        );
      } catch (error) {
        throw withApplied(
          error,
          applied.map((one) => one.action),
          'A change of the hardware',
          { indexes: applied.map(({ index }) => index) },
        );
      }
    }
    return applied;
  }

  private async applyGroup(ref: InstanceRef, group: HardwareChangeGroup): Promise<readonly HardwareResult[]> {
    const changes = group.map(({ change }) => change);
    const [first] = changes;
    const work = (): Promise<readonly HardwareResult[]> => this.abilityOf(ref).applyGroup(ref, changes);
    return first && changes.length === 1 ? withPossibleName(first, work) : work();
  }
}

/** The plan may know that a later restart applies a change that waits for one. */
const appliedChange = (
  index: number,
  change: HardwareChange,
  { effect, volume }: HardwareResult,
  planned: HardwareEffect,
): AppliedChange => ({
  index,
  action: describeHardwareChange(change),
  effect: effect === 'next-start' && planned === 'restart' ? 'restart' : effect,
  ...(volume !== undefined && { volume }),
});

function workOf(ref: InstanceRef, changes: readonly HardwareChange[]): Work {
  const work = workOn('hardware', ref);
  return changes.some((change) => 'restart' in change && change.restart)
    ? { ...work, variant: 'with a restart' }
    : work;
}

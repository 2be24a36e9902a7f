import { DomainError, type AnyPlan, type InstanceIdentity } from '@headgate/domain-contracts';
import { canonicalJson } from './canonical-json.js';

/** Measured durations change with each run, and the steps of tasks are not for users. */
const LEFT_OUT: ReadonlySet<string> = new Set(['seconds', 'interruption', 'reportedAs']);
/** More differences would not be read. */
const MAX_DIFFERENCES = 20;

/** The plan of one instance of a bulk action. */
interface MemberPlan extends AnyPlan {
  readonly ref: string;
  readonly ok: boolean;
}

/** A plan, as far as two of them are compared. */
export type Comparable = Readonly<Record<string, unknown>>;

export const comparable = (plan: AnyPlan): Comparable =>
  JSON.parse(JSON.stringify(plan, (key, value: unknown) => (LEFT_OUT.has(key) ? undefined : value))) as Comparable;

/** The plan of each target by its ref. The plan of a change of one instance is that of the only target. */
export function plansByRef(plan: AnyPlan, targets: readonly InstanceIdentity[]): ReadonlyMap<string, Comparable> {
  const members = membersOf(plan);
  if (members) return new Map(members.map(({ ref, ok: _ok, ...member }) => [ref, comparable(member)]));
  return new Map(targets.map(({ ref }) => [ref, comparable(plan)]));
}

/** The refs of those that the plan changes. */
export const changedRefs = (plan: AnyPlan, targets: readonly InstanceIdentity[]): string[] =>
  membersOf(plan)
    ?.filter(({ ok }) => ok)
    .map(({ ref }) => ref) ?? targets.map(({ ref }) => ref);

/** Whether nothing of the plan would be carried out. */
export function isRefused(plan: AnyPlan): boolean {
  const { refusals, steps } = plan as { refusals?: readonly unknown[]; steps?: readonly unknown[] };
  return (refusals?.length ?? 0) > 0 || steps?.length === 0;
}

/** @throws DomainError INVALID_INPUT for a bulk plan without some of its members: nothing unseen is committed */
export function expectComplete(plan: AnyPlan): void {
  const { unplanned = 0 } = plan as { unplanned?: number };
  if (unplanned > 0)
    throw new DomainError(
      'INVALID_INPUT',
      `${unplanned} of the instances could not be planned in time: choose fewer of them.`,
    );
}

const membersOf = (plan: AnyPlan): readonly MemberPlan[] | undefined =>
  (plan as { members?: readonly MemberPlan[] }).members;

/** A part of a plan that only one of two plans has. */
export interface PlanDifference {
  readonly ref: string;
  /** The rehearsed part, as JSON; null if the rehearsed plan does not have it. */
  readonly rehearsed: string | null;
  /** The part now, as JSON; null if the plan does not have it any more. */
  readonly now: string | null;
}

/** @param before, now the plans of the targets by their refs */
export function differencesOf(
  before: ReadonlyMap<string, Comparable>,
  now: ReadonlyMap<string, Comparable>,
): PlanDifference[] {
  const refs = [...new Set([...before.keys(), ...now.keys()])];
  return refs.flatMap((ref) => differencesOfOne(ref, before.get(ref), now.get(ref))).slice(0, MAX_DIFFERENCES);
}

function differencesOfOne(ref: string, before: Comparable = {}, now: Comparable = {}): PlanDifference[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return fields.flatMap((field) => {
    const [rehearsed, fresh] = [before[field], now[field]].map((value) =>
      value === undefined ? null : canonicalJson({ [field]: value }),
    );
    return rehearsed === fresh ? [] : [{ ref, rehearsed: rehearsed ?? null, now: fresh ?? null }];
  });
}

export const planChanged = (action: string, differences: readonly PlanDifference[]): DomainError =>
  new DomainError(
    'PLAN_CHANGED',
    `The plan to ${action} is not the rehearsed one any more, so nothing of it was changed. Rehearse it again.`,
    { details: { differences } },
  );

import type { Plan, PlanStep, Refusal } from '@headgate/domain-contracts';
import type { MemberPlan } from './plan-members.js';

/** The plan of a bulk task. `steps` has one step for each member that is not refused. */
export interface BulkPlan extends Plan {
  /** Whether the action would be attempted on at least one member without being refused. */
  readonly ok: boolean;
  /** Those that were planned, in their order. */
  readonly members: readonly MemberPlan[];
  /** How many members were not planned, because that took too long. */
  readonly unplanned: number;
}

/** More reasons would not be read. */
const MAX_REFUSALS = 100;

/**
 * @param name that of each step, such as `stop by force`
 * @param refs all members, in their order
 * @param members the plans of some of them
 */
export function buildBulkPlan(name: string, refs: readonly string[], members: readonly MemberPlan[]): BulkPlan {
  const refused = new Map(members.filter(({ ok }) => !ok).map((member) => [member.ref, member]));
  const missing = [...refused.values()].filter(({ refusals }) => refusals.some(isMissing)).map(({ ref }) => ref);
  const ok = refused.size < refs.length;
  return {
    ok,
    steps: refs.filter((ref) => !refused.has(ref)).map((detail): PlanStep => ({ name, detail })),
    warnings: missing.map((ref) => `${ref} does not exist.`),
    refusals: ok ? [] : distinct([...refused.values()].flatMap(({ refusals }) => refusals)),
    members,
    unplanned: refs.length - members.length,
  };
}

const isMissing = ({ code }: Refusal): boolean => code === 'INSTANCE_NOT_FOUND';

function distinct(refusals: readonly Refusal[]): Refusal[] {
  const byText = new Map(refusals.map((one) => [`${one.code} ${one.reason}`, one]));
  return [...byText.values()].slice(0, MAX_REFUSALS);
}

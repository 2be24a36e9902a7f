import {
  bulkSeconds,
  type BulkRequest,
  type MeasuredSeconds,
  type Plan,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';
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
 * @param refs all members, in their order
 * @param members the plans of some of them
 */
export function buildBulkPlan(request: BulkRequest, refs: readonly string[], members: readonly MemberPlan[]): BulkPlan {
  const name = describe(request);
  const refused = new Map(members.filter(({ ok }) => !ok).map((member) => [member.ref, member]));
  const missing = [...refused.values()].filter(({ refusals }) => refusals.some(isMissing)).map(({ ref }) => ref);
  const ok = refused.size < refs.length;
  const secondsOf = new Map(members.map((member) => [member.ref, member.seconds]));
  const steps = refs
    .filter((ref) => !refused.has(ref))
    .map((ref): PlanStep => ({ name, detail: ref, ...seconds(secondsOf.get(ref)) }));
  return {
    ok,
    steps,
    ...seconds(
      bulkSeconds(
        request,
        steps.map((step) => step.seconds),
      ),
    ),
    warnings: missing.map((ref) => `${ref} does not exist.`),
    refusals: ok ? [] : distinct([...refused.values()].flatMap(({ refusals }) => refusals)),
    members,
    unplanned: refs.length - members.length,
  };
}

const seconds = (range: MeasuredSeconds | undefined): Pick<Plan, 'seconds'> => (range ? { seconds: range } : {});

const isMissing = ({ code }: Refusal): boolean => code === 'INSTANCE_NOT_FOUND';

function distinct(refusals: readonly Refusal[]): Refusal[] {
  const byText = new Map(refusals.map((one) => [`${one.code} ${one.reason}`, one]));
  return [...byText.values()].slice(0, MAX_REFUSALS);
}

/** The name of each step, such as `stop by force`. */
const describe = ({ action, force, tag, folder }: BulkRequest): string =>
  [action, force && 'by force', tag, folder].filter(Boolean).join(' ');

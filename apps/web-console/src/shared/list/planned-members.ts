import type { BulkPlan } from '../bulk/bulk-request.js';
import type { Instance } from '../instances/instance.js';

export interface PlannedMembers<E> {
  readonly included: readonly E[];
  readonly refused: readonly { readonly entry: E; readonly reason: string }[];
  /** The steps of the instances that have several, by ref. */
  readonly steps: ReadonlyMap<string, string>;
  readonly warnings: readonly { readonly entry: E; readonly warning: string }[];
  /** The included instances for which nothing would change, such as those that have the tag. */
  readonly unchanged: readonly E[];
  /** How many of the included instances the service had no time to plan. */
  readonly unplanned: number;
}

/**
 * Divides the instances by the plan of the service, which knows more than the list.
 * @param candidates the instances that were planned
 */
export function plannedMembers<E extends Instance>(
  candidates: readonly E[],
  { members = [], unplanned = 0 }: Pick<BulkPlan, 'members' | 'unplanned'> = {},
): PlannedMembers<E> {
  const plans = new Map(members.map((plan) => [plan.ref, plan]));
  const planOf = ({ ref }: E) => plans.get(ref);
  return {
    included: candidates.filter((entry) => planOf(entry)?.ok !== false),
    refused: candidates.flatMap((entry) => {
      const plan = planOf(entry);
      if (plan?.ok !== false) return [];
      const reasons = plan.refusals.map(({ reason, remedy }) => [reason, remedy].filter(Boolean).join(' '));
      return [{ entry, reason: reasons.join(' ') }];
    }),
    steps: new Map(
      members
        .filter(({ steps }) => steps.length > 1)
        .map(({ ref, steps }) => [ref, steps.map(({ detail }) => detail).join(' ')]),
    ),
    warnings: candidates.flatMap((entry) => planOf(entry)?.warnings.map((warning) => ({ entry, warning })) ?? []),
    unchanged: candidates.filter((entry) => {
      const plan = planOf(entry);
      return plan?.ok === true && plan.steps.length === 0;
    }),
    unplanned,
  };
}

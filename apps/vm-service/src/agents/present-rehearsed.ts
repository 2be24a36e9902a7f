import type { PlanView } from '@headgate/api-contracts';
import type { AnyPlan, Plan } from '@headgate/domain-contracts';
import { presentPlan } from '../platform/change-request.js';

/** A bulk plan has the plans of its members as well. */
type RehearsedPlan = Plan & {
  readonly members?: readonly (Plan & { readonly ref: string; readonly ok: boolean })[];
};

/** The plan, of several instances the common one. */
export function presentRehearsed(plan: AnyPlan): PlanView {
  return presentPlan(plan as RehearsedPlan);
}

/** The members of a bulk plan that are not changed, and why. */
export const refusedMembers = (plan: AnyPlan): { ref: string; refusals: Plan['refusals'] }[] | undefined =>
  (plan as RehearsedPlan).members?.filter(({ ok }) => !ok).map(({ ref, refusals }) => ({ ref, refusals }));

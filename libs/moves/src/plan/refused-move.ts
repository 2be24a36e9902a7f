import { DomainError } from '@headgate/domain-contracts';
import type { MovePlan } from './move-plan.js';

type RefusedPlan = Pick<MovePlan, 'refusals' | 'warnings'>;

/** The error for a move, or a queue of moves, that its plan refuses. The plan is in `details`. */
export function moveRefused(plan: RefusedPlan): DomainError {
  const [first] = plan.refusals;
  const more = plan.refusals.length - 1;
  const reason = first?.reason ?? plan.warnings[0] ?? 'The move is refused.';
  return new DomainError('MOVE_REFUSED', `${reason}${more > 0 ? ` There are ${more} more refusals.` : ''}`, {
    details: plan,
  });
}

/** The plan that refuses a move; undefined for any other error. */
export const planOfRefusal = <P extends RefusedPlan>(error: unknown): P | undefined =>
  DomainError.is(error, 'MOVE_REFUSED') ? (error.details as P) : undefined;

import { DomainError } from '../values/domain-error.js';
import { ruleOf } from './operations.js';
import type { Plan, Refusal } from './plan.js';
import type { Conflict } from './work.js';

const RETRY = 'Try again in a moment.';

/** The name in the ref of an instance or an image. */
const nameOf = (subject: string): string => decodeURIComponent(subject.slice(subject.lastIndexOf('/') + 1));

const busyReason = ({ subject, operation }: Conflict): string =>
  `${nameOf(subject)} is busy with ${ruleOf(operation).label}`;

/** Why an operation that meets a conflict is refused, and the remedy. */
export function busyRefusal(conflict: Conflict): Refusal {
  const { task } = conflict;
  const busy = busyReason(conflict);
  return task === undefined
    ? { code: 'BUSY', reason: `${busy}.`, remedy: RETRY }
    : { code: 'BUSY', reason: `${busy} (task ${task}).`, remedy: 'Wait until that task has ended, or cancel it.' };
}

export function busyError(conflict: Conflict): DomainError {
  const { code, reason, remedy } = busyRefusal(conflict);
  const { operation, task, subject } = conflict;
  return new DomainError(code, `${reason} ${remedy}`, {
    details: { ref: subject, action: operation, ...(task !== undefined && { task }) },
  });
}

/** Another replica uses the subject, and its operation is not known here. */
export const busyElsewhere = (subject: string): DomainError =>
  new DomainError('BUSY', `${nameOf(subject)} is busy with a change by another replica. ${RETRY}`, {
    details: { ref: subject },
  });

/**
 * Adds the operations that a plan meets at this moment: it waits for requests, and is refused while a long operation
 * goes on.
 */
export function withConflicts<P extends Plan>(plan: P, conflicts: readonly Conflict[]): P {
  if (conflicts.length === 0) return plan;
  return {
    ...plan,
    warnings: [
      ...plan.warnings,
      ...conflicts
        .filter(({ isBrief }) => isBrief)
        .map((conflict) => `${busyReason(conflict)}. This waits until that has ended.`),
    ],
    // First, because the other refusals may be consequences of the operations in progress.
    refusals: [...conflicts.filter(({ isBrief }) => !isBrief).map(busyRefusal), ...plan.refusals],
  };
}

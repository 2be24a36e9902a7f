import { formatRef, type InstanceRef } from '../values/instance-ref.js';
import { ruleOf, type Operation, type UseMode } from './operations.js';

/** An instance, an image or a name, and how it is used. */
export interface Use {
  /** The ref as text; that of an instance is also its name, which an instance that is created takes. */
  readonly subject: string;
  readonly mode: UseMode;
}

/** An operation with everything that it uses. Stored with its task. */
export interface Work {
  readonly operation: Operation;
  readonly uses: readonly Use[];
  /** What else decides how long it takes, such as `by force`. Of few different values. */
  readonly variant?: string;
  /** The answer to its request is only its beginning, such as of a shutdown: the time until then says nothing. */
  readonly endsLater?: true;
}

/**
 * An operation on an instance or an image, by the rule of the operation.
 * @param name of an instance that the operation creates
 */
export function workOn(operation: Operation, subject: InstanceRef | string, name?: InstanceRef): Work {
  const text = typeof subject === 'string' ? subject : formatRef(subject);
  const uses: Use[] = [{ subject: text, mode: ruleOf(operation).uses }];
  if (name) uses.push({ subject: formatRef(name), mode: 'exclusive' });
  return { operation, uses };
}

/** The variant of a stop that powers a VM off. */
export const FORCED = 'by force';

/** An operation that is carried out. */
export interface Holder {
  readonly operation: Operation;
  /** The ID of its task, once it has one. */
  readonly task?: string;
}

/** The right to carry out an operation. It ends with `release`, or with the task that it was given to. */
export interface Reservation {
  readonly work: Work;
  /** From now on, the reservation ends with the task. */
  giveTo(task: string): void;
  /** Ends the reservation, unless a task has it. */
  release(): void;
}

/** A reason why an operation can't be carried out now. */
export interface Conflict extends Holder {
  readonly subject: string;
  /** Whether another request would wait for its end instead of being refused. */
  readonly isBrief: boolean;
}

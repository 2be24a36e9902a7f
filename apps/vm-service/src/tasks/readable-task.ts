import { DomainError, isInstanceRef, type Caller, type Task } from '@headgate/domain-contracts';

/** The most tasks in the list. */
export const MAX_LISTED_TASKS = 100;

/**
 * Whether a caller may read the instances of a task. The list has bulk tasks without them, so it shows those to no
 * limited caller.
 */
export function mayReadTask({ grant }: Caller, { ref, members }: Pick<Task, 'ref' | 'members'>): boolean {
  if (grant.allowsAll('read')) return true;
  const refs = ref === '' ? (members ?? []).map((member) => member.ref) : [ref];
  return refs.length > 0 && refs.every((one) => isVisible(one, (text) => grant.allowsRef('read', text)));
}

/** @throws DomainError TASK_NOT_FOUND, as for a task that does not exist */
export function expectReadable(caller: Caller, task: Task): Task {
  if (mayReadTask(caller, task)) return task;
  throw new DomainError('TASK_NOT_FOUND', `There is no task ${task.id}.`);
}

/** A task may also be about an image, whose ref is none of an instance. */
const isVisible = (ref: string, allows: (ref: string) => boolean): boolean => isInstanceRef(ref) && allows(ref);

import { messageOf } from '../values/domain-error.js';
import type { TaskMember } from './bulk.js';

/** What members need besides one of the places of their schedule, such as a slot on a host. */
export interface MemberSlots<M> {
  /** Takes all that the member needs, or nothing. @returns whether there was enough */
  take(member: M): boolean;
  free(member: M): void;
  /** Resolves when something becomes free. */
  whenFreed(): Promise<void>;
}

export interface MemberSchedule<M> {
  /** How many members are worked on at a time. */
  readonly limit: number;
  readonly slots?: MemberSlots<M>;
  /** No further member begins once it is aborted. */
  readonly signal?: AbortSignal;
  /** Resolves when a paused schedule may go on; undefined when there is nothing to wait for. */
  readonly whenContinued?: () => Promise<void> | undefined;
}

/**
 * Runs the members in their order, but lets those overtake whose slots are free. A failure of `run` ends the schedule
 * when the running members have ended.
 */
export async function runMembers<M>(
  members: readonly M[],
  { limit, slots, signal, whenContinued }: MemberSchedule<M>,
  run: (member: M) => Promise<void>,
): Promise<void> {
  const waiting = [...members];
  const running = new Set<Promise<void>>();
  const aborted = signal ? [whenAborted(signal)] : [];
  const failures: unknown[] = [];
  const begin = (member: M): void => {
    const work = run(member)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        slots?.free(member);
        running.delete(work);
      });
    running.add(work);
  };
  while (waiting.length > 0 && failures.length === 0 && !signal?.aborted) {
    const paused = whenContinued?.();
    if (paused) {
      await paused;
      continue;
    }
    const next = running.size < limit ? waiting.findIndex((member) => slots?.take(member) ?? true) : -1;
    const [member] = next < 0 ? [] : waiting.splice(next, 1);
    if (member !== undefined) begin(member);
    else await Promise.race([...running, ...(slots ? [slots.whenFreed()] : []), ...aborted]);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

/**
 * Works on one member. A failure is its result, and stops no other.
 * @param work returns the ID of the task that continues it, if there is one
 */
export async function attemptMember(
  work: () => Promise<string | undefined>,
  explain: (error: unknown) => string = messageOf,
): Promise<Omit<TaskMember, 'ref'>> {
  try {
    const task = await work();
    return { status: 'done', ...(task === undefined ? {} : { task }) };
  } catch (error) {
    return { status: 'error', error: explain(error) };
  }
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

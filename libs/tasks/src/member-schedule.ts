import type { HostSlots } from './host-slots.js';

/** More at once would only wait in the backend. */
const MAX_CONCURRENT_MEMBERS = 8;

export interface ScheduledMember {
  readonly ref: string;
  /** Empty if the member needs no slot. */
  readonly hosts: readonly string[];
}

export interface MemberSchedule {
  readonly slots: HostSlots;
  /** How many members may use a host at the same time. */
  readonly perHost: number;
  /** No further member begins once it is aborted. */
  readonly signal: AbortSignal;
  /** Resolves while the task is not paused; undefined when there is nothing to wait for. */
  readonly whenContinued: () => Promise<void> | undefined;
}

/**
 * Runs the members in their order, but lets those overtake whose hosts have a slot left. A failure of `run` ends the schedule when the
 * running members have ended.
 */
export async function runMembers<M extends ScheduledMember>(
  members: readonly M[],
  { slots, perHost, signal, whenContinued }: MemberSchedule,
  run: (member: M) => Promise<void>,
): Promise<void> {
  const waiting = [...members];
  const running = new Set<Promise<void>>();
  const aborted = whenAborted(signal);
  const failures: unknown[] = [];
  const begin = (member: M): void => {
    const work = run(member)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        slots.free(member.hosts);
        running.delete(work);
      });
    running.add(work);
  };
  while (waiting.length > 0 && failures.length === 0 && !signal.aborted) {
    const paused = whenContinued();
    if (paused) {
      await paused;
      continue;
    }
    const next =
      running.size < MAX_CONCURRENT_MEMBERS ? waiting.findIndex(({ hosts }) => slots.take(hosts, perHost)) : -1;
    const [member] = next < 0 ? [] : waiting.splice(next, 1);
    if (member) begin(member);
    else await Promise.race([...running, slots.whenFreed(), aborted]);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

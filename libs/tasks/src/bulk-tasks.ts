import {
  countMembers,
  type BulkRequest,
  type MemberTasks,
  type MemberWork,
  type Task,
  type TaskMember,
} from '@headgate/domain-contracts';
import { BulkRun } from './bulk-run.js';
import { HostSlots } from './host-slots.js';
import type { JournaledKind } from './journaled-kind.js';
import type { LiveJournal } from './live-journal.js';
import type { MemberTaskRuns } from './queued-members.js';
import type { RunDeps, RunningTask } from './running-task.js';

/** Tasks that carry out one request on many members. */
export class BulkTasks implements JournaledKind {
  readonly kind = 'bulk';
  readonly version = 1;
  private apply: MemberWork | undefined;
  private readonly queues = new Map<string, MemberTasks>();
  private readonly slots = new HostSlots();

  constructor(
    private readonly runs: MemberTaskRuns,
    private readonly deps: RunDeps,
  ) {}

  /** The work on one member, for orders without a queue. */
  define(work: MemberWork): void {
    this.apply = work;
  }

  defineQueue(work: MemberTasks): void {
    this.queues.set(work.kind, work);
  }

  open(task: RunningTask, journal: LiveJournal): BulkRun {
    const request = journal as LiveJournal<BulkRequest>;
    const tasks = this.queues.get(request.input.action);
    const { apply, slots, runs } = this;
    if (!apply) throw new Error('The work of bulk tasks is not defined.');
    return new BulkRun({ apply, slots, ...(tasks && { queue: { tasks, runs } }) }, task, request, this.deps);
  }
}

/** The part of a new bulk task that its request and its members decide. */
export function bulkParts(
  request: BulkRequest,
  refs: readonly string[],
  uidOf: (ref: string) => string | undefined = () => undefined,
): Pick<Task, 'cancelable' | 'bulk' | 'members'> {
  const members = refs.map((ref): TaskMember => {
    const uid = uidOf(ref);
    return { ref, ...(uid && { uid }), status: 'waiting' };
  });
  return { cancelable: true, bulk: { ...request, counts: countMembers(members) }, members };
}

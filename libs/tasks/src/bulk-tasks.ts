import {
  countMembers,
  type BulkOrder,
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

/** Tasks that carry out one order on many members. */
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
    const order = journal as LiveJournal<BulkOrder>;
    const tasks = this.queues.get(order.input.action);
    const { apply, slots, runs } = this;
    if (!apply) throw new Error('The work of bulk tasks is not defined.');
    return new BulkRun({ apply, slots, ...(tasks && { queue: { tasks, runs } }) }, task, order, this.deps);
  }
}

/** The part of a new bulk task that its order and its members decide. */
export function bulkParts(order: BulkOrder, refs: readonly string[]): Pick<Task, 'cancelable' | 'bulk' | 'members'> {
  const members = refs.map((ref): TaskMember => ({ ref, status: 'waiting' }));
  return { cancelable: true, bulk: { ...order, counts: countMembers(members) }, members };
}

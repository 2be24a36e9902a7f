import {
  attemptMember,
  DomainError,
  messageOf,
  parseRef,
  runMembers,
  type Author,
  type BulkRequest,
  type Clock,
  type DirectBulkRequest,
  type MemberTasks,
  type MemberWork,
  type TaskMember,
} from '@headgate/domain-contracts';
import type { HostSlots } from './host-slots.js';
import type { JournaledRun, RunOutcome } from './journaled-kind.js';
import type { LiveJournal } from './live-journal.js';
import { JournalWriter } from './journal-writer.js';
import { QueuedMembers, type MemberTaskRuns } from './queued-members.js';
import { INTERRUPTED, MAY_HAVE_RUN, type RunDeps, type RunningTask } from './running-task.js';
import { canceled, nameOf, RIGHTS_UNKNOWN } from './steps-run.js';

/** One call of a member takes less, also if a guest has to shut down first. */
const MEMBER_LIMIT_MS = 15 * 60_000;
const NOT_IN_TIME = 'It did not end within 15 min. It may still be carried out.';
/** More at the same time would only wait in the backend. */
const MAX_CONCURRENT_MEMBERS = 8;
/** A queue without a limit of its own. */
const DEFAULT_PER_HOST = 2;

export interface BulkWork {
  /** Carries out an action that takes one call. */
  readonly apply: MemberWork;
  /** Present for an action whose members are tasks of their own. */
  readonly queue?: { readonly tasks: MemberTasks; readonly runs: MemberTaskRuns };
  readonly slots: HostSlots;
}

/** Carries out a request on each member of a bulk task, and journals each member before its work begins. */
export class BulkRun implements JournaledRun {
  private readonly journal: JournalWriter<BulkRequest>;
  private readonly queue: QueuedMembers | undefined;
  private whenContinued = Promise.withResolvers<void>();
  private pendingWrite: Promise<void> | undefined;
  private isCanceling = false;
  private readonly clock: Clock;

  constructor(
    private readonly work: BulkWork,
    private readonly task: RunningTask,
    journal: LiveJournal<BulkRequest>,
    deps: RunDeps,
  ) {
    this.clock = deps.clock;
    this.journal = new JournalWriter(task, journal, deps.clock);
    const { queue } = work;
    this.queue = queue && new QueuedMembers(queue.tasks, queue.runs, journal.input, journal.caller);
    if (!this.isPaused) this.whenContinued.resolve();
    task.signal.addEventListener('abort', () => this.whenContinued.resolve());
  }

  async run(isRecovered: boolean): Promise<RunOutcome> {
    const { task, journal } = this;
    const { canceledBy, isLimited, input: request } = journal.current;
    const members = this.members.all();
    try {
      if (isRecovered) {
        await this.settleBegun(isLimited || canceledBy !== undefined);
        if (isLimited && !task.shutdownSignal.aborted) {
          task.log(RIGHTS_UNKNOWN);
          await task.end(INTERRUPTED);
          return 'ended';
        }
        task.log('Resumed after a restart.');
      } else {
        task.beginStep(describe(request));
        await journal.commit((current) => current);
      }
      if (canceledBy !== undefined) task.cancel(canceled(canceledBy));
      await this.runAll();
    } catch (error) {
      if (task.shutdownSignal.aborted) return 'suspended';
      await task.end(messageOf(error));
      return 'ended';
    }
    const { error: failed, waiting, running } = this.members.counts;
    if (task.shutdownSignal.aborted && waiting + running > 0) return 'suspended';
    if (task.signal.aborted && !task.shutdownSignal.aborted) await task.end(messageOf(task.signal.reason));
    else await task.end(failed > 0 ? `${failed} of ${members.length} failed.` : undefined);
    return 'ended';
  }

  async cancel({ login }: Author): Promise<void> {
    if (this.journal.current.canceledBy !== undefined || this.isCanceling) return;
    this.isCanceling = true;
    try {
      await this.journal.write((journal) => ({ ...journal, canceledBy: login }));
    } finally {
      this.isCanceling = false;
    }
    this.task.update({ canceledBy: login, cancelable: false, waiting: undefined });
    this.task.log(`Canceled by ${nameOf(login)}.`);
    this.task.cancel(canceled(login));
  }

  async pause(isPaused: boolean): Promise<void> {
    const { canceledBy, task } = this.journal.current;
    if (canceledBy !== undefined) throw new DomainError('WRONG_STATE', `The task ${task} was canceled.`);
    const { bulk } = this.task.summary;
    if (!bulk || isPaused === this.isPaused) return;
    this.task.update({ bulk: { ...bulk, paused: isPaused }, waiting: isPaused ? 'Paused.' : undefined });
    // No further member begins while it is written.
    if (isPaused) this.whenContinued = Promise.withResolvers();
    try {
      await this.task.save();
    } catch (error) {
      this.task.update({ bulk, waiting: isPaused ? undefined : 'Paused.' });
      if (isPaused) this.whenContinued.resolve();
      throw error;
    }
    this.task.log(isPaused ? 'Paused.' : 'Continued.');
    if (!isPaused) this.whenContinued.resolve();
  }

  private get isPaused(): boolean {
    return this.task.summary.bulk?.paused === true;
  }

  private get members() {
    const { members } = this.task;
    if (!members) throw new Error('A bulk task has members.');
    return members;
  }

  /**
   * The members whose work an earlier process began. Those of a queue have tasks, which continue on their own.
   * @param isEnding whether no further task may be started
   */
  private async settleBegun(isEnding: boolean): Promise<void> {
    const { task, queue } = this;
    const begun = this.members.all().filter(({ status }) => status === 'running');
    if (!queue) for (const member of begun) task.member(interrupted(member));
    else if (isEnding)
      await Promise.all(begun.map(async (member) => this.record(member.ref, await queue.finish(member))));
  }

  private async runAll(): Promise<void> {
    const { queue, work, task } = this;
    const members = this.members.all().map((member) => ({ member, hosts: queue?.hostsOf(member.ref) ?? [] }));
    // The tasks of an earlier process continue, whether this one is paused or not.
    const begun = members
      .filter(({ member }) => member.status === 'running')
      .map(({ member, hosts }) => {
        work.slots.occupy(hosts);
        return this.runMember(member).finally(() => work.slots.free(hosts));
      });
    const others = runMembers(
      members.filter(({ member }) => member.status === 'waiting'),
      {
        limit: MAX_CONCURRENT_MEMBERS,
        slots: {
          take: ({ hosts }) => work.slots.take(hosts, this.journal.current.input.perHost ?? DEFAULT_PER_HOST),
          free: ({ hosts }) => work.slots.free(hosts),
          whenFreed: () => work.slots.whenFreed(),
        },
        signal: task.signal,
        whenContinued: () => (this.isPaused && !task.signal.aborted ? this.whenContinued.promise : undefined),
      },
      ({ member }) => this.runMember(member),
    );
    const failed = (await Promise.allSettled([...begun, others])).find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  private async runMember(member: TaskMember): Promise<void> {
    const { task, queue } = this;
    const { ref } = member;
    let begun = member;
    if (member.status === 'waiting') {
      if (task.signal.aborted) return;
      begun = queue?.begin(ref) ?? { ref, status: 'running' };
      task.member(begun);
      await this.write();
      // Canceled while the store could not be written, or stopped: the work has not begun.
      if (task.signal.aborted) return task.member({ ref, status: 'waiting' });
    }
    this.record(ref, await (queue ? queue.run(begun) : this.apply(ref)));
  }

  private record(ref: string, result: Omit<TaskMember, 'ref'>): void {
    const { task } = this;
    task.member({ ref, ...result });
    if (result.error !== undefined) task.log(`${ref}: ${result.error}`);
    const { waiting, running, ...ended } = this.members.counts;
    const count = ended.done + ended.error + ended.skipped;
    task.progress(count / (count + waiting + running));
  }

  private apply(ref: string): Promise<Omit<TaskMember, 'ref'>> {
    const { input: request, caller } = this.journal.current;
    return attemptMember(() => this.inTime(this.work.apply(request as DirectBulkRequest, parseRef(ref), caller)));
  }

  /** Ends the wait for work that does not end. @throws Error */
  private async inTime<T>(work: Promise<T>): Promise<T> {
    const { clock, task } = this;
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(MEMBER_LIMIT_MS, () => late.reject(new Error(NOT_IN_TIME)));
    // The journal has all that the next start needs.
    task.shutdownSignal.addEventListener('abort', cancel);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      cancel();
      task.shutdownSignal.removeEventListener('abort', cancel);
    }
  }

  /** Members that begin together are journaled with one write. */
  private write(): Promise<void> {
    this.pendingWrite ??= Promise.resolve().then(() => {
      this.pendingWrite = undefined;
      return this.journal.commit((journal) => journal);
    });
    return this.pendingWrite;
  }
}

/** The step of a bulk task, such as `stop by force`. */
export const describe = ({ action, force, tag }: BulkRequest): string =>
  `${action}${force ? ' by force' : ''}${tag === undefined ? '' : ` ${tag}`}`;

/** A process that was killed may have done it. */
const interrupted = ({ ref }: TaskMember): TaskMember => ({ ref, status: 'error', error: MAY_HAVE_RUN });

import {
  attemptMember,
  DEFAULT_AT_ONCE,
  DomainError,
  messageOf,
  parseRef,
  runMembers,
  type Author,
  type BulkRequest,
  type BulkTask,
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
import { waitUntil } from './wait-until.js';

/** One call of a member takes less, also if a guest has to shut down first. */
const MEMBER_LIMIT_MS = 15 * 60_000;
const NOT_IN_TIME = 'It did not end within 15 min. It may still be carried out.';
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
  /** Whether the time of the request has come in this process. */
  private isDue = false;
  /** Aborted after a failure that stops the other members. */
  private readonly failure = new AbortController();
  /** Aborted when no further member may begin. */
  private readonly stopped: AbortSignal;
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
    this.stopped = AbortSignal.any([task.signal, this.failure.signal]);
    this.stopped.addEventListener('abort', () => this.whenContinued.resolve());
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
        task.beginStep(request.at === undefined ? describe(request) : `wait until ${request.at}`);
        if (request.at !== undefined) task.update({ waiting: this.waitingAs(false) });
        await journal.commit((current) => current);
      }
      if (canceledBy !== undefined) task.cancel(canceled(canceledBy));
      if (this.members.counts.error > 0) this.stopAfterFailure();
      await this.whenDue();
      await this.runAll();
    } catch (error) {
      if (task.shutdownSignal.aborted) return 'suspended';
      await task.end(messageOf(error));
      return 'ended';
    }
    const { waiting, running } = this.members.counts;
    // The next process calls `afterwards`.
    if (task.shutdownSignal.aborted && (waiting + running > 0 || this.queue)) return 'suspended';
    if (task.signal.aborted && !task.shutdownSignal.aborted) {
      await task.end(messageOf(task.signal.reason));
      return 'ended';
    }
    await this.queue?.afterwards(this.members.all(), (text) => task.log(text));
    if (task.shutdownSignal.aborted) return 'suspended';
    await task.end(failureOf(this.members.counts, members.length));
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
    this.task.update({ bulk: { ...bulk, paused: isPaused }, waiting: this.waitingAs(isPaused) });
    // No further member begins while it is written.
    if (isPaused) this.whenContinued = Promise.withResolvers();
    try {
      await this.task.save();
    } catch (error) {
      this.task.update({ bulk, waiting: this.waitingAs(!isPaused) });
      if (isPaused) this.whenContinued.resolve();
      throw error;
    }
    this.task.log(isPaused ? 'Paused.' : 'Continued.');
    if (!isPaused) this.whenContinued.resolve();
  }

  private get isPaused(): boolean {
    return this.task.summary.bulk?.paused === true;
  }

  private waitingAs(isPaused: boolean): string | undefined {
    if (isPaused) return 'Paused.';
    const { at } = this.journal.current.input;
    return at !== undefined && this.isEarly ? `Begins at ${at}.` : undefined;
  }

  /** Whether the time of the request has not come. Members that have begun go on after a clock was set back. */
  private get isEarly(): boolean {
    const { at } = this.journal.current.input;
    const hasBegun = this.members.counts.waiting < this.members.size;
    return at !== undefined && !this.isDue && !hasBegun && this.clock.now() < Date.parse(at);
  }

  /** Waits for the time of the request. */
  private async whenDue(): Promise<void> {
    const { task, stopped } = this;
    const { input: request } = this.journal.current;
    if (request.at === undefined || stopped.aborted) return;
    task.update({ waiting: this.waitingAs(this.isPaused) });
    while (this.isEarly && !stopped.aborted) await waitUntil(Date.parse(request.at), this.clock, stopped);
    if (stopped.aborted) return;
    this.isDue = true;
    task.update({ waiting: this.waitingAs(this.isPaused) });
    if (task.summary.steps.at(-1)?.name !== describe(request)) task.beginStep(describe(request));
  }

  private stopAfterFailure(): void {
    if (this.journal.current.input.stopOnError) this.failure.abort();
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
    const { queue, work, stopped } = this;
    const { atOnce = DEFAULT_AT_ONCE, perHost = DEFAULT_PER_HOST } = this.journal.current.input;
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
        limit: atOnce,
        slots: {
          take: ({ hosts }) => work.slots.take(hosts, perHost),
          free: ({ hosts }) => work.slots.free(hosts),
          whenFreed: () => work.slots.whenFreed(),
        },
        signal: stopped,
        whenContinued: () => (this.isPaused && !stopped.aborted ? this.whenContinued.promise : undefined),
      },
      ({ member }) => this.runMember(member),
    );
    const failed = (await Promise.allSettled([...begun, others])).find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  private async runMember(member: TaskMember): Promise<void> {
    const { task, queue, stopped } = this;
    const { ref } = member;
    let begun = member;
    if (member.status === 'waiting') {
      if (stopped.aborted) return;
      begun = queue?.begin(ref) ?? { ref, status: 'running' };
      task.member(begun);
      await this.write();
      // Canceled while the store could not be written, or stopped: the work has not begun.
      if (stopped.aborted) return task.member({ ref, status: 'waiting' });
    }
    this.record(ref, await (queue ? queue.run(begun) : this.apply(member)));
  }

  private record(ref: string, result: Omit<TaskMember, 'ref'>): void {
    const { task } = this;
    task.member({ ref, ...result });
    if (result.error !== undefined) task.log(`${ref}: ${result.error}`);
    if (result.status === 'error') this.stopAfterFailure();
    const { waiting, running, ...ended } = this.members.counts;
    const count = ended.done + ended.error + ended.skipped;
    task.progress(count / (count + waiting + running));
  }

  private apply({ ref, uid }: TaskMember): Promise<Omit<TaskMember, 'ref'>> {
    const { input: request, caller } = this.journal.current;
    const member = { ...parseRef(ref), ...(uid && { uid }) };
    return attemptMember(() => this.inTime(this.work.apply(request as DirectBulkRequest, member, caller)));
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

function failureOf({ error, skipped, waiting }: BulkTask['counts'], all: number): string | undefined {
  if (error > 0)
    return waiting > 0 ? `${error} of ${all} failed, so ${waiting} did not begin.` : `${error} of ${all} failed.`;
  return skipped === all ? `${all === 1 ? 'The only one was' : `All ${all} were`} skipped.` : undefined;
}

/** The step of a bulk task, such as `stop by force`. */
export const describe = ({ action, force, tag, folder }: BulkRequest): string =>
  [action, force && 'by force', tag, folder].filter(Boolean).join(' ');

/** A process that was killed may have done it. */
const interrupted = ({ ref }: TaskMember): TaskMember => ({ ref, status: 'error', error: MAY_HAVE_RUN });

import {
  DomainError,
  messageOf,
  parseRef,
  runConcurrently,
  type BulkOrder,
  type Caller,
  type MemberWork,
  type TaskJournal,
  type TaskMember,
} from '@headgate/domain-contracts';
import { JournalWriter } from './journal-writer.js';
import { INTERRUPTED, MAY_HAVE_RUN, type RunDeps, type RunningTask } from './running-task.js';
import { canceled, nameOf, RIGHTS_UNKNOWN, type RunOutcome } from './steps-run.js';

/** More at once would only wait in the backend. */
const MAX_CONCURRENT_MEMBERS = 8;

/** Carries out an order on each member of a bulk task, and journals each member before its work begins. */
export class BulkRun {
  private readonly journal: JournalWriter<BulkOrder>;
  private whenContinued = Promise.withResolvers<void>();
  private pendingWrite: Promise<void> | undefined;

  constructor(
    private readonly work: MemberWork,
    private readonly task: RunningTask,
    journal: TaskJournal<BulkOrder>,
    deps: RunDeps,
  ) {
    this.journal = new JournalWriter(task, journal, deps.clock);
    if (!this.isPaused) this.whenContinued.resolve();
    task.signal.addEventListener('abort', () => this.whenContinued.resolve());
  }

  /** @param isRecovered whether an earlier process began the task */
  async run(isRecovered: boolean): Promise<RunOutcome> {
    const { task, journal } = this;
    const { canceledBy, isLimited, input: order, caller } = journal.current;
    const members = this.members.all();
    try {
      if (isRecovered) {
        for (const member of members.filter(({ status }) => status === 'running')) task.member(interrupted(member));
        if (isLimited) {
          task.log(RIGHTS_UNKNOWN);
          task.end(INTERRUPTED);
          return 'ended';
        }
        task.log('Resumed after a restart.');
      } else {
        task.beginStep(describe(order));
        await journal.commit((current) => current);
      }
      if (canceledBy !== undefined) task.cancel(canceled(canceledBy));
      const waiting = this.members.all().filter(({ status }) => status === 'waiting');
      await runConcurrently(waiting, MAX_CONCURRENT_MEMBERS, ({ ref }) => this.runMember(ref, order, caller));
    } catch (error) {
      if (task.shutdownSignal.aborted) return 'suspended';
      task.end(messageOf(error));
      return 'ended';
    }
    if (task.shutdownSignal.aborted && this.members.counts.waiting > 0) return 'suspended';
    const { error: failed } = this.members.counts;
    if (task.signal.aborted && !task.shutdownSignal.aborted) task.end(messageOf(task.signal.reason));
    else task.end(failed > 0 ? `${failed} of ${members.length} failed.` : undefined);
    return 'ended';
  }

  cancel({ login }: Caller): void {
    if (this.journal.current.canceledBy !== undefined) return;
    this.journal.write((journal) => ({ ...journal, canceledBy: login }));
    this.task.update({ canceledBy: login, cancelable: false, waiting: undefined });
    this.task.log(`Canceled by ${nameOf(login)}.`);
    this.task.cancel(canceled(login));
  }

  /** @throws DomainError WRONG_STATE */
  pause(isPaused: boolean): void {
    const { canceledBy, task } = this.journal.current;
    if (canceledBy !== undefined) throw new DomainError('WRONG_STATE', `The task ${task} was canceled.`);
    const { bulk } = this.task.summary;
    if (!bulk || isPaused === this.isPaused) return;
    this.task.update({ bulk: { ...bulk, paused: isPaused }, waiting: isPaused ? 'Paused.' : undefined });
    try {
      this.task.save();
    } catch (error) {
      this.task.update({ bulk, waiting: isPaused ? undefined : 'Paused.' });
      throw error;
    }
    this.task.log(isPaused ? 'Paused.' : 'Continued.');
    if (isPaused) this.whenContinued = Promise.withResolvers();
    else this.whenContinued.resolve();
  }

  private get isPaused(): boolean {
    return this.task.summary.bulk?.paused === true;
  }

  private get members() {
    const { members } = this.task;
    if (!members) throw new Error('A bulk task has members.');
    return members;
  }

  private async runMember(ref: string, order: BulkOrder, caller: Caller): Promise<void> {
    const { task } = this;
    await this.whenContinued.promise;
    if (task.signal.aborted) return;
    task.member({ ref, status: 'running' });
    await this.write();
    // Canceled while the store could not be written, or stopped: the work has not begun.
    if (task.signal.aborted) return task.member({ ref, status: 'waiting' });
    const result = await this.apply(ref, order, caller);
    task.member({ ref, ...result });
    if (result.error !== undefined) task.log(`${ref}: ${result.error}`);
    const { waiting, running, ...ended } = this.members.counts;
    const count = ended.done + ended.error + ended.skipped;
    task.progress(count / (count + waiting + running));
  }

  private async apply(ref: string, order: BulkOrder, caller: Caller): Promise<Omit<TaskMember, 'ref'>> {
    try {
      const task = await this.work(order, parseRef(ref), caller);
      return { status: 'done', ...(task === undefined ? {} : { task }) };
    } catch (error) {
      return { status: 'error', error: messageOf(error) };
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
export const describe = ({ action, force, tag }: BulkOrder): string =>
  `${action}${force ? ' by force' : ''}${tag === undefined ? '' : ` ${tag}`}`;

/** A process that was killed may have done it. */
const interrupted = ({ ref }: TaskMember): TaskMember => ({ ref, status: 'error', error: MAY_HAVE_RUN });

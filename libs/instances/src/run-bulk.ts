import {
  Change,
  buildPlan,
  DomainError,
  formatRef,
  messageOf,
  needsRetry,
  parseRef,
  runConcurrently,
  type Audit,
  type BulkOrder,
  type BulkReporter,
  type Caller,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type TaskMember,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { InstanceActions } from './instance-actions.js';

/** More at once would only wait in the backend. */
const MAX_CONCURRENT_MEMBERS = 8;

/**
 * One action for many instances, as a task of the service. Each instance gets the use case of a single request, with its checks and
 * its audit entry. A failure stops no other instance.
 */
export class RunBulk extends Change<[order: BulkOrder, refs: readonly InstanceRef[]], string> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly tasks: TaskRunner,
    private readonly actions: InstanceActions,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(order: BulkOrder, refs: readonly InstanceRef[]): Promise<Plan> {
    const members = expectMembers(order, refs);
    const missing = members.filter((ref) => this.directory.get(parseRef(ref)) === undefined);
    const name = describe(order);
    return buildPlan(
      members.filter((ref) => !missing.includes(ref)).map((detail) => ({ name, detail })),
      { warnings: missing.map((ref) => `${ref} does not exist.`) },
    );
  }

  /** @returns the ID of the task */
  override async run(order: BulkOrder, refs: readonly InstanceRef[], caller: Caller): Promise<string> {
    return this.start(order, expectMembers(order, refs), caller);
  }

  /**
   * Starts a task for the members of an ended one that failed or never began.
   * @throws DomainError TASK_NOT_FOUND, WRONG_STATE
   */
  retry(id: string, caller: Caller): string {
    const { status, bulk, members } = this.tasks.get(id);
    if (!bulk) throw new DomainError('WRONG_STATE', `${id} is not a bulk task.`);
    if (status === 'running') throw new DomainError('WRONG_STATE', `${id} still runs.`);
    if (!members) throw new DomainError('WRONG_STATE', `${id} is too old; its members are no longer known.`);
    const { counts: _counts, ...order } = bulk;
    const refs = members.filter(needsRetry).map(({ ref }) => ref);
    if (refs.length === 0) throw new DomainError('WRONG_STATE', `Nothing failed in ${id}.`);
    return this.start(order, refs, caller);
  }

  /** Begins no further member; those that run are finished. @throws DomainError TASK_NOT_FOUND, WRONG_STATE */
  async cancel(id: string, caller: Caller): Promise<void> {
    const { tasks, audit } = this;
    if (!tasks.get(id).bulk) throw new DomainError('WRONG_STATE', `${id} is not a bulk task.`);
    await audit.of(caller, 'cancel task', `task/${id}`, async () =>
      tasks.cancelTask(id, new DomainError('CONFLICT', `Canceled by ${caller.login || 'the user'}.`)),
    );
  }

  private start(order: BulkOrder, refs: readonly string[], caller: Caller): string {
    return this.tasks.startBulk(order, refs, caller, (report) => this.work(order, refs, caller, report));
  }

  private async work(order: BulkOrder, refs: readonly string[], caller: Caller, report: BulkReporter): Promise<void> {
    report.step(describe(order));
    let finished = 0;
    let failed = 0;
    await runConcurrently(refs, MAX_CONCURRENT_MEMBERS, async (ref) => {
      if (report.signal.aborted) return;
      report.member(ref, { status: 'running' });
      const result = await this.apply(order, parseRef(ref), caller);
      report.member(ref, result);
      if (result.error !== undefined) {
        failed++;
        report.log(`${ref}: ${result.error}`);
      }
      report.progress(++finished / refs.length);
    });
    report.signal.throwIfAborted();
    if (failed > 0) throw new Error(`${failed} of ${refs.length} failed.`);
  }

  private async apply(order: BulkOrder, ref: InstanceRef, caller: Caller): Promise<Omit<TaskMember, 'ref'>> {
    try {
      const task = await this.actions.apply(order, ref, caller);
      return { status: 'done', ...(task === undefined ? {} : { task }) };
    } catch (error) {
      return { status: 'error', error: messageOf(error) };
    }
  }
}

/** Each ref once, in the given order. @throws DomainError INVALID_INPUT */
function expectMembers({ action, force, tag }: BulkOrder, refs: readonly InstanceRef[]): string[] {
  const takesTag = action === 'tag' || action === 'untag';
  if (takesTag !== (tag !== undefined))
    throw new DomainError(
      'INVALID_INPUT',
      takesTag ? `tag is missing; ${action} needs it.` : `${action} takes no tag.`,
    );
  if (force && action !== 'stop') throw new DomainError('INVALID_INPUT', 'force is only possible with stop.');
  if (refs.length === 0) throw new DomainError('INVALID_INPUT', 'No instance matches.');
  return [...new Set(refs.map(formatRef))];
}

const describe = ({ action, force, tag }: BulkOrder): string =>
  `${action}${force ? ' by force' : ''}${tag === undefined ? '' : ` ${tag}`}`;

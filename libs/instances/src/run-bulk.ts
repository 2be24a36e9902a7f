import {
  Change,
  buildPlan,
  DomainError,
  formatRef,
  needsRetry,
  parseRef,
  type Audit,
  type BulkRequest,
  type Caller,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { InstanceActions } from './instance-actions.js';

interface Bulk {
  readonly request: BulkRequest;
  /** The refs of the instances, as text. */
  readonly members: readonly string[];
}

/**
 * One action for many instances, as a task of the service. Each instance gets the use case of a single request, with
 * its checks and its audit entry. A failure stops no other instance.
 */
export class RunBulk extends Change<[request: BulkRequest, refs: readonly InstanceRef[]], string, Bulk> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly tasks: TaskRunner,
    actions: InstanceActions,
    private readonly audit: Audit,
  ) {
    super();
    tasks.defineBulk((request, ref, caller) => actions.apply(request, ref, caller));
  }

  protected override prepare(request: BulkRequest, refs: readonly InstanceRef[]): Bulk {
    return { request, members: expectMembers(request, refs) };
  }

  protected override async planPrepared({ request, members }: Bulk): Promise<Plan> {
    const missing = members.filter((ref) => this.directory.get(parseRef(ref)) === undefined);
    const name = describe(request);
    return buildPlan(
      members.filter((ref) => !missing.includes(ref)).map((detail) => ({ name, detail })),
      { warnings: missing.map((ref) => `${ref} does not exist.`) },
    );
  }

  /** @returns the ID of the task */
  protected override runPrepared({ request, members }: Bulk, caller: Caller): Promise<string> {
    return this.tasks.startBulk(request, members, caller);
  }

  /**
   * Starts a task for the members of an ended one that failed or never began.
   * @throws DomainError TASK_NOT_FOUND, WRONG_STATE
   */
  async retry(id: string, caller: Caller): Promise<string> {
    const { status, bulk, members } = this.tasks.get(id);
    if (!bulk) throw new DomainError('WRONG_STATE', `${id} is not a bulk task.`);
    if (status === 'running') throw new DomainError('WRONG_STATE', `${id} still runs.`);
    if (!members) throw new DomainError('WRONG_STATE', `${id} is too old; its members are no longer known.`);
    const { counts: _counts, paused: _paused, ...request } = bulk;
    const refs = members.filter(needsRetry).map(({ ref }) => ref);
    if (refs.length === 0) throw new DomainError('WRONG_STATE', `Nothing failed in ${id}.`);
    return this.tasks.startBulk(request, refs, caller);
  }

  /** Begins no further member; those that run are finished. @throws DomainError TASK_NOT_FOUND, WRONG_STATE */
  async cancel(id: string, caller: Caller): Promise<void> {
    const { tasks, audit } = this;
    const { bulk, status } = tasks.get(id);
    if (!bulk) throw new DomainError('WRONG_STATE', `${id} is not a bulk task.`);
    if (status !== 'running') throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
    await audit.of(caller, 'cancel task', `task/${id}`, async () => tasks.cancelTask(id, caller));
  }

  /**
   * Begins no further member until it is continued, also after a restart.
   * @throws DomainError TASK_NOT_FOUND, WRONG_STATE
   */
  async pause(id: string, isPaused: boolean, caller: Caller): Promise<void> {
    const { tasks, audit } = this;
    tasks.get(id);
    await audit.of(caller, isPaused ? 'pause task' : 'continue task', `task/${id}`, async () =>
      tasks.pauseBulk(id, isPaused),
    );
  }
}

/** Each ref once, in the given order. @throws DomainError INVALID_INPUT */
function expectMembers({ action, force, tag }: BulkRequest, refs: readonly InstanceRef[]): string[] {
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

const describe = ({ action, force, tag }: BulkRequest): string =>
  `${action}${force ? ' by force' : ''}${tag === undefined ? '' : ` ${tag}`}`;

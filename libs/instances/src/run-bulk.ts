import {
  Change,
  DomainError,
  formatRef,
  needsRetry,
  parseRef,
  type Audit,
  type Caller,
  type Clock,
  type DirectBulkRequest,
  type InstanceDirectory,
  type InstanceRef,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { buildBulkPlan, type BulkPlan } from './bulk-plan.js';
import { expectRequest, withoutTime } from './expect-request.js';
import type { InstanceActions } from './instance-actions.js';
import { planMembers } from './plan-members.js';

interface Bulk {
  readonly request: DirectBulkRequest;
  /** The refs of the instances, as text. */
  readonly members: readonly string[];
}

/**
 * One action for many instances, as a task of the service. Each instance gets the use case of a single request, with
 * its checks and its audit entry. A failure stops no other instance.
 */
export class RunBulk extends Change<
  [request: DirectBulkRequest, refs: readonly InstanceRef[]],
  string,
  Bulk,
  BulkPlan
> {
  constructor(
    private readonly tasks: TaskRunner,
    private readonly actions: InstanceActions,
    private readonly audit: Audit,
    private readonly clock: Clock,
    private readonly directory: Pick<InstanceDirectory, 'get'>,
  ) {
    super();
    tasks.defineBulk((request, ref, caller) => actions.apply(request, ref, caller));
  }

  protected override prepare(request: DirectBulkRequest, refs: readonly InstanceRef[]): Bulk {
    return { request: expectRequest(request, this.clock.now()), members: expectMembers(refs) };
  }

  protected override async planPrepared({ request, members }: Bulk): Promise<BulkPlan> {
    const { actions, clock } = this;
    const plans = await planMembers(members, (ref) => actions.plan(request, ref), clock);
    return buildBulkPlan(request, members, plans);
  }

  /** @returns the ID of the task */
  protected override runPrepared({ request, members }: Bulk, caller: Caller): Promise<string> {
    return this.start({ request, members }, caller);
  }

  /**
   * Starts the task under an ID that its caller has recorded before.
   * @throws DomainError as `run` does
   */
  async runAs(id: string, request: DirectBulkRequest, refs: readonly InstanceRef[], caller: Caller): Promise<string> {
    return this.start(this.prepare(request, refs), caller, id);
  }

  private start({ request, members }: Bulk, caller: Caller, id?: string): Promise<string> {
    const uidOf = (ref: string): string | undefined => this.directory.get(parseRef(ref))?.uid;
    return this.tasks.startBulk(request, members, caller, { uidOf, ...(id !== undefined && { id }) });
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
    const uids = new Map(members.map(({ ref, uid }) => [ref, uid]));
    if (refs.length === 0) throw new DomainError('WRONG_STATE', `Nothing failed in ${id}.`);
    return this.tasks.startBulk(withoutTime(request), refs, caller, { uidOf: (ref) => uids.get(ref) });
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
function expectMembers(refs: readonly InstanceRef[]): string[] {
  if (refs.length === 0) throw new DomainError('INVALID_INPUT', 'No instance matches.');
  return [...new Set(refs.map(formatRef))];
}

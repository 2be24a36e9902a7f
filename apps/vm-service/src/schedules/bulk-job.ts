import { expectAllowedLater, expectMembersAllowed } from '@headgate/access';
import type { ScheduleJobDto } from '@headgate/api-contracts';
import {
  DomainError,
  type BulkOrigin,
  type Caller,
  type Clock,
  type DirectBulkRequest,
  type Schedule,
  type ScheduledJob,
  type ScheduledRun,
  type ScheduledSnapshotStore,
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import { expectRequest, type RunBulk } from '@headgate/instances';
import { JobKind } from '@headgate/schedules';
import { newTaskId } from '@headgate/tasks';
import { findMembers } from '../bulk/find-members.js';
import { paramsOf, placesOf } from './job-params.js';

export interface BulkJobDeps {
  readonly runBulk: RunBulk;
  readonly fleet: FleetReader;
  readonly snapshots: ScheduledSnapshotStore;
  readonly clock: Clock;
}

/** Starts a bulk task at planned times. */
export class BulkJob extends JobKind {
  override readonly kind = 'bulk';

  constructor(private readonly deps: BulkJobDeps) {
    super();
  }

  override check(job: ScheduledJob, caller: Caller): void {
    const { fleet, clock } = this.deps;
    const params = paramsOf(job);
    const request = requestOf(params);
    expectRequest(request, clock.now());
    if (params.backup) throw new DomainError('INVALID_INPUT', 'job.backup is only possible with backup.');
    if (params.keep !== undefined && params.action !== 'snapshot')
      throw new DomainError('INVALID_INPUT', 'job.keep is only possible with snapshot.');
    const members = findMembers(params, fleet, caller);
    expectMembersAllowed(caller.grant, request, members);
    // Instances that will match later have to be allowed then. Without any now, there must be a right at all.
    if (members.length === 0) expectAllowedLater(caller.grant, request.action, params.query.folder);
  }

  override describe(job: ScheduledJob): string {
    const { action, force, query } = paramsOf(job);
    const { kind = 'vm' } = query;
    return `${action}${force ? ' by force' : ''} of each ${kind === 'vm' ? 'VM' : 'container'}: ${placesOf(query)}`;
  }

  override newTask(job: ScheduledJob): string {
    return newTaskId('bulk', paramsOf(job).action, this.deps.clock.now());
  }

  override async start(
    { id, job }: Schedule,
    { task, planned }: ScheduledRun & { readonly task: string },
    caller: Caller,
  ): Promise<boolean> {
    const { runBulk, fleet } = this.deps;
    const params = paramsOf(job);
    const { keep } = params;
    const request = requestOf(params, { id, planned, ...(keep !== undefined && { keep }) });
    const members = findMembers(params, fleet, caller);
    if (members.length === 0) return false;
    expectMembersAllowed(caller.grant, request, members);
    await runBulk.runAs(task, request, members, caller);
    return true;
  }

  override async forget({ id }: Schedule): Promise<void> {
    const { snapshots } = this.deps;
    for (const record of snapshots.of(id)) await snapshots.delete(id, record.id);
  }
}

function requestOf(
  { query: _query, keep: _keep, backup: _backup, action, ...request }: ScheduleJobDto,
  schedule?: BulkOrigin,
): DirectBulkRequest {
  if (action === 'backup') throw new DomainError('INVALID_INPUT', 'job.action: backup is another kind of job.');
  return { action, ...request, ...(schedule && { schedule }) };
}

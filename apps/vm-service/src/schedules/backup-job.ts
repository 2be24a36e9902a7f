import { expectAllowedLater, expectMembersAllowed } from '@headgate/access';
import { findTarget, hasRules } from '@headgate/backups';
import {
  DomainError,
  formatRef,
  parseRef,
  type BackupTargetStore,
  type BulkRequest,
  type Caller,
  type Clock,
  type Schedule,
  type ScheduledJob,
  type ScheduledRun,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import { JobKind } from '@headgate/schedules';
import { newTaskId } from '@headgate/tasks';
import { findMembers } from '../bulk/find-members.js';
import { paramsOf, placesOf } from './job-params.js';

export interface BackupJobDeps {
  readonly tasks: Pick<TaskRunner, 'startBulk'>;
  readonly targets: BackupTargetStore;
  readonly fleet: FleetReader;
  readonly clock: Clock;
}

/** Backs up the VMs that match a query at planned times, as a bulk task. */
export class BackupJob extends JobKind {
  override readonly kind = 'backup';

  constructor(private readonly deps: BackupJobDeps) {
    super();
  }

  override check(job: ScheduledJob, caller: Caller): void {
    const { fleet, targets } = this.deps;
    const params = paramsOf(job);
    const { backup, query, force, waitReady, keep } = params;
    if (!backup) throw invalid('job.backup is missing; backup needs the target.');
    if (query.kind === 'ct') throw invalid('job.query.kind: containers have no backups.');
    if (force || waitReady) throw invalid(`job.${force ? 'force' : 'waitReady'} is not possible with backup.`);
    if (keep !== undefined) throw invalid('job.keep is only possible with snapshot; set job.backup.keep.');
    if (backup.keep && !hasRules(backup.keep))
      throw invalid(
        'job.backup.keep: set at least one of last, hourly, daily, weekly, monthly, yearly, or leave it out.',
      );
    if (backup.onlyIfProved && !backup.keep)
      throw invalid('job.backup.onlyIfProved is only possible with job.backup.keep.');
    expectMayProve(backup, caller);
    findTarget(targets, backup.target);
    const members = findMembers(params, fleet, caller);
    expectMembersAllowed(caller.grant, { action: 'backup' }, members);
    if (members.length === 0) expectAllowedLater(caller.grant, 'backup', query.folder);
  }

  override describe(job: ScheduledJob): string {
    const { query, backup } = paramsOf(job);
    const target = this.deps.targets.all().find(({ id }) => id === backup?.target);
    return `backup of each VM: ${placesOf(query)} to ${target?.name ?? 'a target that was removed'}`;
  }

  override newTask(): string {
    return newTaskId('bulk', 'backup', this.deps.clock.now());
  }

  override async start(
    { id, job, timeZone }: Schedule,
    { task, planned }: ScheduledRun & { readonly task: string },
    caller: Caller,
  ): Promise<boolean> {
    const { tasks, targets, fleet } = this.deps;
    const { backup, atOnce, stopOnError, query } = paramsOf(job);
    if (!backup) throw invalid('The schedule names no target of backups.');
    expectMayProve(backup, caller);
    findTarget(targets, backup.target);
    const members = findMembers({ query }, fleet, caller);
    if (members.length === 0) return false;
    expectMembersAllowed(caller.grant, { action: 'backup' }, members);
    const request: BulkRequest = {
      action: 'backup',
      backup: { ...backup, timeZone },
      schedule: { id, planned },
      ...(atOnce !== undefined && { atOnce }),
      ...(stopOnError !== undefined && { stopOnError }),
    };
    const uidOf = (ref: string): string | undefined => fleet.get(parseRef(ref))?.uid;
    await tasks.startBulk(request, members.map(formatRef), caller, { id: task, uidOf });
    return true;
  }

  /** Its backups stay, as they do when a target is removed. */
  override async forget(): Promise<void> {
    // It has no records.
  }
}

/** A boot takes memory of the context, so it needs more than the right to back VMs up. */
function expectMayProve({ prove }: { readonly prove?: boolean }, { grant }: Caller): void {
  if (prove && !grant.allowsAll('create'))
    throw new DomainError('NOT_PERMITTED', 'job.backup.prove: booting backups needs the right to create everywhere.');
}

const invalid = (message: string): DomainError => new DomainError('INVALID_INPUT', message);

import {
  DomainError,
  MemberSkipped,
  type BulkRequest,
  type Caller,
  type DefinedTask,
  type InstanceRef,
  type MemberTasks,
  type TaskMember,
} from '@headgate/domain-contracts';
import type { BackUpVm } from './back-up-vm.js';
import type { ProveRunInput } from './prove-run-task.js';
import { hasRules } from './retention.js';
import type { CleanInput } from './target-care.js';

export interface BackupMembersDeps {
  readonly backUpVm: Pick<BackUpVm, 'runAs'>;
  readonly cleanTask: DefinedTask<CleanInput>;
  readonly proveTask: DefinedTask<ProveRunInput>;
  /** @throws DomainError NOT_PERMITTED when the caller may not back the VM up */
  readonly expectAllowed: (caller: Caller, ref: InstanceRef) => void;
}

/** The backups of many VMs to one target. Each one is a task, as that of a single request is. */
export class BackupMembers implements MemberTasks {
  readonly kind = 'backup';

  constructor(private readonly deps: BackupMembersDeps) {}

  /** The engine, which reads, and the target, which all bulk tasks write to. No context has a name with `/`. */
  hostsOf({ backup }: BulkRequest, { context }: InstanceRef): readonly string[] {
    return [context, ...(backup ? [`backup-target/${backup.target}`] : [])];
  }

  async start(
    { backup, schedule }: BulkRequest,
    ref: InstanceRef,
    { task, caller }: { readonly task: string; readonly caller: Caller },
  ): Promise<void> {
    const { backUpVm, expectAllowed } = this.deps;
    if (!backup) throw new DomainError('INVALID_INPUT', 'The bulk task names no target of backups.');
    expectAllowed(caller, ref);
    try {
      await backUpVm.runAs(task, ref, { target: backup.target, ...(schedule && { schedule: schedule.id }) }, caller);
    } catch (error) {
      throw isLeftOut(error) ? new MemberSkipped(error.message, { cause: error }) : error;
    }
  }

  /**
   * Deletes what the rules do not keep of the backups of its schedule, of the VMs that were backed up now. Boots the
   * new backups before, if the schedule says so: their proofs count for the clean-up.
   */
  async afterwards(
    { backup, schedule }: BulkRequest,
    members: readonly TaskMember[],
    { caller, log }: { readonly caller: Caller; readonly log: (text: string) => void },
  ): Promise<void> {
    const tasks = members.flatMap(({ status, task }) => (status === 'done' && task !== undefined ? [task] : []));
    if (!backup || tasks.length === 0) return;
    const { target, keep: rules, timeZone = 'UTC', prove, onlyIfProved } = backup;
    const clean: CleanInput | undefined =
      rules && hasRules(rules) && schedule
        ? { target, rules, timeZone, only: { schedule: schedule.id, tasks }, ...(onlyIfProved && { onlyIfProved }) }
        : undefined;
    const start = { name: 'backups', ref: '' };
    if (prove) {
      const input: ProveRunInput = { target, tasks, ...(clean && { clean }) };
      log(`Its backups are booted by the task ${await this.deps.proveTask.start({ ...start, input }, caller)}.`);
    } else if (clean) {
      const id = await this.deps.cleanTask.start({ ...start, input: clean }, caller);
      log(`Its former backups are cleaned up by the task ${id}.`);
    }
  }
}

/** Another backup of the VM goes on, or its context has no backups. */
function isLeftOut(error: unknown): error is DomainError {
  if (DomainError.is(error, 'NOT_SUPPORTED')) return true;
  if (!DomainError.is(error, 'BUSY')) return false;
  const { action } = (error.details ?? {}) as { readonly action?: unknown };
  return action === 'backup' || action === 'backup-stopped';
}

import {
  buildPlan,
  Change,
  findInstance,
  formatRef,
  isRunningStatus,
  isVm,
  throwFirstRefusal,
  workOn,
  type Audit,
  type BackupTarget,
  type BackupTargetStore,
  type Caller,
  type DefinedTask,
  type FoundInstance,
  type InstanceQuery,
  type InstanceRef,
  type InstanceSources,
  type Plan,
  type Reservations,
  type Work,
} from '@headgate/domain-contracts';
import type { BackupInput } from './backup-task.js';
import { findTarget } from './find-target.js';

export interface BackUpVmDeps extends InstanceSources {
  readonly targets: BackupTargetStore;
  readonly task: DefinedTask<BackupInput>;
  readonly reservations: Reservations;
  readonly audit: Audit;
}

interface Prepared {
  readonly found: FoundInstance<'backupSource'>;
  readonly target: BackupTarget;
  readonly work: Work;
}

/** For the schedule that asks for it, with the ID that its bulk task has given to the task. */
interface BackupOrigin {
  readonly id: string;
  readonly schedule?: string;
}

/** Backs a VM up to a target, as a task. @returns the ID of the task */
export class BackUpVm extends Change<[query: InstanceQuery, target: string], string, Prepared> {
  constructor(private readonly deps: BackUpVmDeps) {
    super();
  }

  protected override prepare(query: InstanceQuery, target: string): Prepared {
    const found = findInstance(this.deps, query, 'backupSource');
    const { instance, ref } = found;
    const isRunning = isVm(instance) && isRunningStatus(instance.status);
    return {
      found,
      target: findTarget(this.deps.targets, target),
      // The guest may be stopped meanwhile, but not started: QEMU does not change a disk that is read.
      work: onlyOne(workOn(isRunning ? 'backup' : 'backup-stopped', ref), ref),
    };
  }

  protected override planPrepared({ found, target, work }: Prepared): Promise<Plan> {
    return this.deps.reservations.plan(work, async () =>
      buildPlan(
        [
          { name: 'read', detail: `Read all disks of ${found.ref.name} as they are at one moment.` },
          { name: 'store', detail: `Store what has changed in ${target.name}.` },
        ],
        { refusals: await found.ability.check(found.ref, target.id) },
      ),
    );
  }

  protected override runPrepared(prepared: Prepared, caller: Caller): Promise<string> {
    return this.start(prepared, caller);
  }

  /**
   * Starts the task under an ID that its caller has recorded before.
   * @param order.schedule the ID of the schedule whose rules count for the backup
   * @throws DomainError as `run` does
   */
  async runAs(
    id: string,
    query: InstanceQuery,
    { target, schedule }: { readonly target: string; readonly schedule?: string },
    caller: Caller,
  ): Promise<string> {
    return this.start(this.prepare(query, target), caller, { id, ...(schedule !== undefined && { schedule }) });
  }

  private start({ found, target, work }: Prepared, caller: Caller, origin?: BackupOrigin): Promise<string> {
    const { ref, uid, ability } = found;
    const { reservations, audit, task } = this.deps;
    return reservations.during(work, (reservation) =>
      audit.of(
        caller,
        'back up',
        ref,
        async () => {
          throwFirstRefusal({ refusals: await ability.check(ref, target.id) });
          const schedule = origin?.schedule;
          const input: BackupInput = {
            ref: formatRef(ref),
            uid,
            target: target.id,
            ...(schedule !== undefined && { schedule }),
          };
          return task.start(
            { ...(origin && { id: origin.id }), name: ref.name, ref: input.ref, input, reservation },
            caller,
          );
        },
        () => `to ${target.name}`,
      ),
    );
  }
}

/** The same VM may change meanwhile, or be copied if it is stopped, but it has one backup at a time. */
function onlyOne(work: Work, ref: InstanceRef): Work {
  const subject = formatRef(ref).replace(/^[^/]*/, 'backup');
  return { ...work, uses: [...work.uses, { subject, mode: 'exclusive' }] };
}

import {
  Change,
  DomainError,
  isRunningStatus,
  isVm,
  throwFirstRefusal,
  workOn,
  type BackendDirectory,
  type Caller,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type Reservations,
  type Audit,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { MigrationTasks } from './migration-tasks.js';
import { findChangeable } from './find-changeable.js';

/** Migrates a running VM to another node. */
export class MigrateVm extends Change<[query: InstanceQuery, targetNode: string | undefined], string> {
  private readonly tasks: MigrationTasks;

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    tasks: TaskRunner,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
    this.tasks = new MigrationTasks({ tasks, directory, backends });
  }

  override async plan(query: InstanceQuery, targetNode: string | undefined): Promise<Plan> {
    const { ref } = findChangeable(this.directory, query);
    return this.reservations.plan(workOn('migrate', ref), () =>
      this.backends
        .get(this.find(ref).ref.context)
        .require('migration')
        .plan(ref, targetNode || undefined),
    );
  }

  /** @returns the ID of the task that tracks the migration */
  override async run(query: InstanceQuery, targetNode: string | undefined, caller: Caller): Promise<string> {
    const { ref, uid } = findChangeable(this.directory, query);
    return this.reservations.during(workOn('migrate', ref), async (reservation) => {
      this.find({ ...ref, uid });
      return this.audit.of(caller, 'migrate', ref, async () => {
        const migration = this.backends.get(ref.context).require('migration');
        throwFirstRefusal(await migration.plan(ref, targetNode || undefined));
        const order = targetNode ? { targetNode } : {};
        const { task } = await this.tasks.migrations.start({ name: ref.name, ref, order, caller, reservation });
        return task;
      });
    });
  }

  private find(query: InstanceQuery): Instance {
    const vm = findChangeable(this.directory, query);
    if (isVm(vm) && !isRunningStatus(vm.status)) {
      throw new DomainError('WRONG_STATE', `${vm.ref.name} does not run; only a running VM can be migrated.`);
    }
    return vm;
  }
}

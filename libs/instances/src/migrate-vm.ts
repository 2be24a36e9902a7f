import {
  Change,
  DomainError,
  isRunningStatus,
  isVm,
  type BackendDirectory,
  type Caller,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type TaskRunner,
  type Audit,
} from '@headgate/domain-contracts';

/** Migrates a running VM to another node. */
export class MigrateVm extends Change<[query: InstanceQuery, targetNode: string | undefined], string> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly tasks: TaskRunner,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, targetNode: string | undefined): Promise<Plan> {
    const ref = this.find(query);
    return this.backends
      .get(ref.context)
      .require('migration')
      .plan(ref, targetNode || undefined);
  }

  /** @returns the ID of the task that tracks the migration */
  override async run(query: InstanceQuery, targetNode: string | undefined, caller: Caller): Promise<string> {
    const ref = this.find(query);
    return this.audit.of(caller, 'migrate', ref, async () => {
      const work = await this.backends
        .get(ref.context)
        .require('migration')
        .migrate(ref, targetNode || undefined);
      return this.tasks.start('migrate', ref, caller, work);
    });
  }

  private find(query: InstanceQuery): InstanceRef {
    const vm = this.directory.resolve(query);
    if (isVm(vm) && !isRunningStatus(vm.status)) {
      throw new DomainError('WRONG_STATE', `${vm.ref.name} does not run; only a running VM can be migrated.`);
    }
    return vm.ref;
  }
}

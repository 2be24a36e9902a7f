import {
  DomainError,
  isRunningStatus,
  isVm,
  throwFirstRefusal,
  type FoundInstance,
  type Instance,
  type Plan,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { MigrationTasks } from './migration-tasks.js';
import { InstanceChange, type Permit, type InstanceChangeDeps } from './instance-change.js';

export interface MigrateVmDeps extends InstanceChangeDeps {
  readonly tasks: TaskRunner;
}

/** Migrates a running VM to another node. Its result is the ID of the task that follows the migration. */
export class MigrateVm extends InstanceChange<'migration', [targetNode: string | undefined], string> {
  protected override readonly ability = 'migration';
  private readonly tasks: MigrationTasks;

  constructor(deps: MigrateVmDeps) {
    super(deps);
    this.tasks = new MigrationTasks(deps);
  }

  protected override operationOf() {
    return 'migrate' as const;
  }

  protected override actionOf(): string {
    return 'migrate';
  }

  /** @throws DomainError WRONG_STATE unless the VM runs */
  protected override check(vm: Instance): void {
    if (isVm(vm) && !isRunningStatus(vm.status))
      throw new DomainError('WRONG_STATE', `${vm.ref.name} is not running. Only a running VM can be migrated.`);
  }

  protected override planOn(
    { ref, ability }: FoundInstance<'migration'>,
    targetNode: string | undefined,
  ): Promise<Plan> {
    return ability.plan(ref, targetNode || undefined);
  }

  protected override async runOn(
    { ref, ability }: FoundInstance<'migration'>,
    permit: Permit,
    targetNode: string | undefined,
  ): Promise<string> {
    throwFirstRefusal(await ability.plan(ref, targetNode || undefined));
    const params = targetNode ? { targetNode } : {};
    const { task } = await this.tasks.migrations.start({ name: ref.name, ref, params, ...permit });
    return task;
  }
}

import {
  DomainError,
  isVm,
  type FolderDirectory,
  type FoundInstance,
  type Instance,
  type InstanceQuery,
  type Plan,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { InstanceChange, type InstanceChangeDeps } from './instance-change.js';

export interface DeleteVmDeps extends InstanceChangeDeps {
  readonly tasks: Pick<TaskRunner, 'cancel'>;
  readonly folders: Pick<FolderDirectory, 'endWith'>;
}

/** Deletes a VM with everything that belongs to it. */
export class DeleteVm extends InstanceChange<'provisioning'> {
  protected override readonly ability = 'provisioning';

  constructor(protected override readonly deps: DeleteVmDeps) {
    super(deps);
  }

  protected override operationOf() {
    return 'delete' as const;
  }

  protected override actionOf(): string {
    return 'delete';
  }

  /** A deletion can be requested again. */
  protected override locate(query: InstanceQuery): Instance {
    return this.deps.directory.resolve(query);
  }

  /** @throws DomainError WRONG_STATE for a protected VM */
  protected override check(vm: Instance): void {
    if (isVm(vm) && vm.protected)
      throw new DomainError('WRONG_STATE', `${vm.ref.name} is protected from deletion; remove the protection first.`);
  }

  protected override planOn({ ref, ability }: FoundInstance<'provisioning'>): Promise<Plan> {
    return ability.planDelete(ref);
  }

  protected override runOn({ instance, ref, ability }: FoundInstance<'provisioning'>): Promise<void> {
    return this.deps.folders.endWith(instance, () => ability.delete(ref));
  }

  protected override settle({ ref, uid }: FoundInstance<'provisioning'>): Promise<void> {
    this.deps.tasks.cancel(ref, new DomainError('INSTANCE_NOT_FOUND', `${ref.name} was deleted.`));
    return this.deps.directory.waitFor(
      ref,
      (instance) => instance?.uid !== uid || (isVm(instance) && instance.status === 'Terminating'),
    );
  }
}

import {
  Change,
  DomainError,
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

/** Deletes a VM with everything that belongs to it. */
export class DeleteVm extends Change<[query: InstanceQuery]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly tasks: TaskRunner,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(query: InstanceQuery): Promise<Plan> {
    const ref = this.find(query);
    return this.backends.get(ref.context).require('provisioning').planDelete(ref);
  }

  override async run(query: InstanceQuery, caller: Caller): Promise<void> {
    const ref = this.find(query);
    await this.audit.of(caller, 'delete', ref, () =>
      this.backends.get(ref.context).require('provisioning').delete(ref),
    );
    this.tasks.cancel(ref, new DomainError('INSTANCE_NOT_FOUND', `${ref.name} was deleted.`));
    await this.directory.waitFor(
      ref,
      (instance) => instance === undefined || (isVm(instance) && instance.status === 'Terminating'),
    );
  }

  private find(query: InstanceQuery): InstanceRef {
    const vm = this.directory.resolve(query);
    if (isVm(vm) && vm.protected) {
      throw new DomainError('WRONG_STATE', `${vm.ref.name} is protected from deletion; remove the protection first.`);
    }
    return vm.ref;
  }
}

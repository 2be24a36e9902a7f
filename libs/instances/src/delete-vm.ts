import {
  Change,
  DomainError,
  isVm,
  workOn,
  type BackendDirectory,
  type Caller,
  type FolderDirectory,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type Reservations,
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
    private readonly reservations: Reservations,
    private readonly folders: Pick<FolderDirectory, 'endWith'>,
  ) {
    super();
  }

  override async plan(query: InstanceQuery): Promise<Plan> {
    const { ref } = this.directory.resolve(query);
    return this.reservations.plan(workOn('delete', ref), () =>
      this.backends.get(this.find(ref).ref.context).require('provisioning').planDelete(ref),
    );
  }

  override async run(query: InstanceQuery, caller: Caller): Promise<void> {
    const { ref, uid } = this.directory.resolve(query);
    await this.reservations.during(workOn('delete', ref), async () => {
      const vm = this.find({ ...ref, uid });
      const remove = () => this.backends.get(ref.context).require('provisioning').delete(ref);
      await this.audit.of(caller, 'delete', ref, () => this.folders.endWith(vm, remove));
      this.tasks.cancel(ref, new DomainError('INSTANCE_NOT_FOUND', `${ref.name} was deleted.`));
      await this.directory.waitFor(
        ref,
        (instance) => instance?.uid !== uid || (isVm(instance) && instance.status === 'Terminating'),
      );
    });
  }

  private find(query: InstanceQuery): Instance {
    const vm = this.directory.resolve(query);
    if (isVm(vm) && vm.protected) {
      throw new DomainError('WRONG_STATE', `${vm.ref.name} is protected from deletion; remove the protection first.`);
    }
    return vm;
  }
}

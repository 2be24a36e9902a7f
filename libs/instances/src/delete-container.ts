import {
  Change,
  workOn,
  type BackendDirectory,
  type Caller,
  type FolderDirectory,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type Reservations,
  type Audit,
} from '@headgate/domain-contracts';

/** Deletes a container and its data volume. */
export class DeleteContainer extends Change<[query: InstanceQuery]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
    private readonly folders: Pick<FolderDirectory, 'endWith'>,
  ) {
    super();
  }

  override async plan(query: InstanceQuery): Promise<Plan> {
    const { ref } = this.directory.resolve(query);
    const plan = await this.backends.get(ref.context).require('containers').planDelete(ref);
    return this.reservations.inPlan(workOn('delete', ref), plan);
  }

  override async run(query: InstanceQuery, caller: Caller): Promise<void> {
    const { ref, uid } = this.directory.resolve(query);
    const containers = this.backends.get(ref.context).require('containers');
    await this.reservations.during(workOn('delete', ref), async () => {
      const container = this.directory.resolve({ ...ref, uid });
      await this.audit.of(caller, 'delete', ref, () => this.folders.endWith(container, () => containers.delete(ref)));
      await this.directory.waitFor(ref, (instance) => instance?.uid !== uid);
    });
  }
}

import {
  Change,
  type BackendDirectory,
  type Caller,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type Audit,
} from '@headgate/domain-contracts';

/** Deletes a container and its data volume. */
export class DeleteContainer extends Change<[query: InstanceQuery]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(query: InstanceQuery): Promise<Plan> {
    const { ref } = this.directory.resolve(query);
    return this.backends.get(ref.context).require('containers').planDelete(ref);
  }

  override async run(query: InstanceQuery, caller: Caller): Promise<void> {
    const { ref } = this.directory.resolve(query);
    const containers = this.backends.get(ref.context).require('containers');
    await this.audit.of(caller, 'delete', ref, () => containers.delete(ref));
    await this.directory.waitFor(ref, (instance) => instance === undefined);
  }
}

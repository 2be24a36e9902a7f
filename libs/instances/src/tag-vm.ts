import {
  Change,
  buildPlan,
  type BackendDirectory,
  type Caller,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type Audit,
} from '@headgate/domain-contracts';

/** Adds a tag to a VM or removes it. */
export class TagVm extends Change<[query: InstanceQuery, tag: string, on: boolean]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, tag: string, on: boolean): Promise<Plan> {
    const { ref, tags } = this.directory.resolve(query);
    this.backends.get(ref.context).require('provisioning');
    const done = tags.includes(tag) === on;
    return buildPlan(done ? [] : [{ name: on ? 'add tag' : 'remove tag', detail: `${tag} on ${ref.name}` }]);
  }

  override async run(query: InstanceQuery, tag: string, on: boolean, caller: Caller): Promise<void> {
    const { ref } = this.directory.resolve(query);
    await this.audit.of(caller, `${on ? 'add' : 'remove'} tag ${tag}`, ref, () =>
      this.backends.get(ref.context).require('provisioning').setTag(ref, tag, on),
    );
    await this.directory.waitFor(ref, (instance) => instance === undefined || instance.tags.includes(tag) === on);
  }
}

import {
  Change,
  buildPlan,
  workOn,
  type BackendDirectory,
  type Caller,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type Reservations,
  type Audit,
} from '@headgate/domain-contracts';
import { findChangeable } from './find-changeable.js';

/** Adds a tag to a VM or removes it. */
export class TagVm extends Change<[query: InstanceQuery, tag: string, on: boolean]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, tag: string, on: boolean): Promise<Plan> {
    const { ref, tags } = findChangeable(this.directory, query);
    this.backends.get(ref.context).require('provisioning');
    const done = tags.includes(tag) === on;
    const plan = buildPlan(done ? [] : [{ name: on ? 'add tag' : 'remove tag', detail: `${tag} on ${ref.name}` }]);
    return this.reservations.inPlan(workOn('tag', ref), plan);
  }

  override async run(query: InstanceQuery, tag: string, on: boolean, caller: Caller): Promise<void> {
    const { ref, uid } = findChangeable(this.directory, query);
    await this.reservations.during(workOn('tag', ref), async () => {
      findChangeable(this.directory, { ...ref, uid });
      await this.audit.of(caller, `${on ? 'add' : 'remove'} tag ${tag}`, ref, () =>
        this.backends.get(ref.context).require('provisioning').setTag(ref, tag, on),
      );
      await this.directory.waitFor(ref, (instance) => instance === undefined || instance.tags.includes(tag) === on);
    });
  }
}

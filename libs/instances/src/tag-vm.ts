import { buildPlan, type FoundInstance, type Plan } from '@headgate/domain-contracts';
import { InstanceChange, type Permit } from './instance-change.js';

/** Adds a tag to a VM or removes it. */
export class TagVm extends InstanceChange<'provisioning', [tag: string, on: boolean]> {
  protected override readonly ability = 'provisioning';

  protected override operationOf() {
    return 'tag' as const;
  }

  protected override actionOf(tag: string, on: boolean): string {
    return `${on ? 'add' : 'remove'} tag ${tag}`;
  }

  protected override async planOn(
    { ref, instance }: FoundInstance<'provisioning'>,
    tag: string,
    on: boolean,
  ): Promise<Plan> {
    const isDone = instance.tags.includes(tag) === on;
    return buildPlan(isDone ? [] : [{ name: on ? 'add tag' : 'remove tag', detail: `${tag} on ${ref.name}` }]);
  }

  protected override runOn(
    { ref, ability }: FoundInstance<'provisioning'>,
    _permit: Permit,
    tag: string,
    on: boolean,
  ): Promise<void> {
    return ability.setTag(ref, tag, on);
  }

  protected override settle(
    { ref }: FoundInstance<'provisioning'>,
    _result: void,
    tag: string,
    on: boolean,
  ): Promise<void> {
    return this.deps.directory.waitFor(ref, (instance) => instance === undefined || instance.tags.includes(tag) === on);
  }
}

import {
  DomainError,
  isRunningStatus,
  isVm,
  throwFirstRefusal,
  workOn,
  type FoundInstance,
  type Instance,
  type InstanceRef,
  type Plan,
  type Work,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit, type InstanceChangeDeps } from '../instance-change.js';
import type { PlaceInstance } from '../place-instance.js';
import type { CloneTasks } from './clone-tasks.js';

export interface CloningDeps extends InstanceChangeDeps {
  readonly place: PlaceInstance;
  readonly tasks: CloneTasks;
}

export interface ClonedVm {
  readonly ref: InstanceRef;
  /** The task that completes the clone, if that takes time. */
  readonly task?: string;
}

/** Copies a stopped VM, a template or a container, with an identity of its own. */
export class CloneVm extends InstanceChange<'cloning', [name: string], ClonedVm, [target: InstanceRef]> {
  protected override readonly ability = 'cloning';

  constructor(protected override readonly deps: CloningDeps) {
    super(deps);
  }

  protected override operationOf() {
    return 'clone' as const;
  }

  protected override actionOf({ name }: InstanceRef): string {
    return `clone to ${name}`;
  }

  /** @throws DomainError INVALID_NAME */
  protected override paramsOf({ ref }: Instance, name: string): [InstanceRef] {
    return [this.deps.place.locate({ ...ref, name }).ref];
  }

  /** The name of the clone is reserved as well. */
  protected override workOf({ ref }: Instance, target: InstanceRef): Work {
    return workOn(this.operationOf(), ref, target);
  }

  /** @throws DomainError ALREADY_EXISTS, WRONG_STATE */
  protected override check(vm: Instance, target: InstanceRef): void {
    this.deps.place.place(target);
    if (isVm(vm) && isRunningStatus(vm.status))
      throw new DomainError('WRONG_STATE', `${vm.ref.name} runs: stop it first, then clone it.`);
  }

  protected override async planOn(
    { ref, ability, instance }: FoundInstance<'cloning'>,
    target: InstanceRef,
  ): Promise<Plan> {
    const plan = await ability.planClone(ref, target);
    return { ...plan, warnings: [...plan.warnings, ...withoutTags(instance)] };
  }

  protected override async runOn(
    { ref: source, ability }: FoundInstance<'cloning'>,
    permit: Permit,
    ref: InstanceRef,
  ): Promise<ClonedVm> {
    throwFirstRefusal(await ability.planClone(source, ref));
    const params = { target: ref.name };
    const started = await this.deps.tasks.clones.start({
      name: ref.name,
      ref: source,
      subject: ref,
      params,
      ...permit,
    });
    if (started.continues) return { ref, task: started.task };
    await this.deps.directory.waitFor(ref, (instance) => instance !== undefined);
    return { ref };
  }
}

/** Tags may select a VM for a service or a policy, so a copy never gets them without the user. */
const withoutTags = ({ ref, tags }: Instance): string[] =>
  tags.length === 0 ? [] : [`The clone does not get the tags of ${ref.name}: ${tags.join(', ')}.`];

/** Marks a VM as a template, or removes the mark. */
export class MarkTemplate extends InstanceChange<'cloning', [on: boolean]> {
  protected override readonly ability = 'cloning';

  protected override operationOf() {
    return 'template' as const;
  }

  protected override actionOf(on: boolean): string {
    return on ? 'mark as template' : 'remove the template mark';
  }

  protected override planOn({ ref, ability }: FoundInstance<'cloning'>, on: boolean): Promise<Plan> {
    return ability.planTemplate(ref, on);
  }

  protected override runOn({ ref, ability }: FoundInstance<'cloning'>, _permit: Permit, on: boolean): Promise<void> {
    return ability.setTemplate(ref, on);
  }

  protected override settle({ ref }: FoundInstance<'cloning'>, _result: void, on: boolean): Promise<void> {
    return this.deps.directory.waitFor(ref, (vm) => vm === undefined || (isVm(vm) && vm.isTemplate === on));
  }
}

import { buildPlan, type FoundInstance, type Plan } from '@headgate/domain-contracts';
import { InstanceChange, type Permit } from './instance-change.js';

export const CONTAINER_ACTIONS = ['start', 'stop'] as const;
export type ContainerAction = (typeof CONTAINER_ACTIONS)[number];

/** Starts a container from its recorded spec, or stops it and keeps its data. */
export class ApplyContainerPower extends InstanceChange<'containers', [action: ContainerAction]> {
  protected override readonly ability = 'containers';

  protected override operationOf(action: ContainerAction): ContainerAction {
    return action;
  }

  protected override actionOf(action: ContainerAction): string {
    return action;
  }

  protected override async planOn({ ref }: FoundInstance<'containers'>, action: ContainerAction): Promise<Plan> {
    return buildPlan([{ name: action, detail: ref.name }]);
  }

  protected override runOn(
    { ref, ability }: FoundInstance<'containers'>,
    _permit: Permit,
    action: ContainerAction,
  ): Promise<void> {
    return ability[action](ref);
  }
}

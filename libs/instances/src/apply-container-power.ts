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

export const CONTAINER_ACTIONS = ['start', 'stop'] as const;
export type ContainerAction = (typeof CONTAINER_ACTIONS)[number];

/** Starts a container from its recorded spec, or stops it and keeps its data. */
export class ApplyContainerPower extends Change<[query: InstanceQuery, action: ContainerAction]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, action: ContainerAction): Promise<Plan> {
    const { ref } = this.directory.resolve(query);
    this.backends.get(ref.context).require('containers');
    return this.reservations.inPlan(workOn(action, ref), buildPlan([{ name: action, detail: ref.name }]));
  }

  override async run(query: InstanceQuery, action: ContainerAction, caller: Caller): Promise<void> {
    const { ref, uid } = this.directory.resolve(query);
    const containers = this.backends.get(ref.context).require('containers');
    await this.reservations.during(workOn(action, ref), () => {
      this.directory.resolve({ ...ref, uid });
      return this.audit.of(caller, action, ref, () => containers[action](ref));
    });
  }
}

import {
  buildPlan,
  DomainError,
  isRunningStatus,
  isVm,
  workOn,
  type BackendDirectory,
  type BulkRequest,
  type Caller,
  type FoundInstance,
  type Instance,
  type InstanceRef,
  type LeaveWay,
  type MemberTasks,
  type NodeScheduling,
  type Plan,
  type TaskRunner,
  type Work,
} from '@headgate/domain-contracts';
import { enginePatience, EngineTasks } from '../engine-tasks.js';
import { InstanceChange, type InstanceChangeDeps, type Permit } from '../instance-change.js';

export interface LeaveNodeDeps extends InstanceChangeDeps {
  readonly tasks: TaskRunner;
}

interface LeaveParams {
  /** Its name in the context of the instance. */
  readonly leaves: string;
}

/** The work of one instance of a drain. A restart of a container is compared with others of its kind. */
export const workOfLeaving = (ref: InstanceRef, way: LeaveWay): Work =>
  way === 'migrate' ? workOn('migrate', ref) : { ...workOn('restart', ref), variant: 'on another node' };

const wayOf = ({ kind }: InstanceRef): LeaveWay => (kind === 'vm' ? 'migrate' : 'restart');

/** Gets one instance off a node that is being drained, as a task that continues after a restart of the service. */
export class LeaveNode extends InstanceChange<'nodeScheduling', [node: string, task: string], string> {
  protected override readonly ability = 'nodeScheduling';
  private readonly tasks: EngineTasks<LeaveParams>;

  constructor({ tasks, ...deps }: LeaveNodeDeps) {
    super(deps);
    const of = ({ context }: InstanceRef): NodeScheduling => deps.backends.get(context).require('nodeScheduling');
    this.tasks = new EngineTasks<LeaveParams>(
      { tasks, directory: deps.directory },
      {
        kind: 'drain',
        label: ({ leaves }) => `its departure from ${leaves}`,
        patience: () =>
          enginePatience('the departure', 'The backend may still carry it out: the instance is on one of the nodes.'),
        isCancelable: () => true,
        begin: (ref, { leaves }, key) => of(ref).leave(ref, leaves, key),
        stateOf: (ref, { leaves }, key) => of(ref).stateOf(ref, leaves, key),
        resume: (ref, { leaves }, key) => of(ref).resume(ref, leaves, key),
        discard: (ref, { leaves }, key) => of(ref).discard(ref, leaves, key),
      },
    );
  }

  protected override operationOf() {
    return 'migrate' as const;
  }

  protected override actionOf(): string {
    return 'drain';
  }

  protected override workOf({ ref }: Instance): Work {
    return workOfLeaving(ref, wayOf(ref));
  }

  /** @throws DomainError WRONG_STATE for a VM that has stopped meanwhile, which is no longer on a node */
  protected override check(instance: Instance): void {
    if (isVm(instance) && !isRunningStatus(instance.status))
      throw new DomainError('WRONG_STATE', `${instance.ref.name} is no longer running, so it is on no node.`);
  }

  protected override async planOn({ ref }: FoundInstance<'nodeScheduling'>, node: string): Promise<Plan> {
    return buildPlan([{ name: wayOf(ref), detail: `Get ${ref.name} off ${node}.` }]);
  }

  protected override async runOn(
    { ref }: FoundInstance<'nodeScheduling'>,
    permit: Permit,
    node: string,
    id: string,
  ): Promise<string> {
    const { task } = await this.tasks.start({ id, name: ref.name, ref, params: { leaves: node }, ...permit });
    return task;
  }
}

/** The members of a drain: each of them is checked again when its turn comes. */
export class DrainMembers implements MemberTasks {
  readonly kind = 'drain';

  constructor(
    private readonly leaveNode: LeaveNode,
    private readonly backends: BackendDirectory,
  ) {}

  /** Drains of several nodes do not wait for each other. */
  hostsOf({ drain }: BulkRequest, { context }: InstanceRef): readonly string[] {
    return [`${context}/${drain?.node ?? ''}`];
  }

  async start(
    { drain }: BulkRequest,
    ref: InstanceRef,
    { task, caller }: { readonly task: string; readonly caller: Caller },
  ): Promise<void> {
    if (!drain) throw new DomainError('INVALID_INPUT', 'drain: the node is missing.');
    this.backends.get(drain.context).require('nodeScheduling');
    await this.leaveNode.run(ref, drain.node, task, caller);
  }
}

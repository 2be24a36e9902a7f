import {
  Change,
  DomainError,
  formatRef,
  type BackendDirectory,
  type BulkRequest,
  type Caller,
  type InstanceRef,
  type MemberTasks,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { chooseDestination } from '../plan/choose-destination.js';
import { Concerns, type MovePlan } from '../plan/move-plan.js';
import { moveRefused, planOfRefusal } from '../plan/refused-move.js';
import type { StartMove } from '../start-move.js';
import type { PlanQueue, QueuePlan } from './plan-queue.js';
import type { QueueRequest, SharedMoveRequest } from './queue-request.js';

export interface AcceptedQueue {
  readonly plan: QueuePlan;
  /** The ID of the bulk task. */
  readonly task: string;
}

/**
 * The members of a queue are moves like those of single requests, each with a preflight of its own when its turn comes.
 */
export class MoveMembers implements MemberTasks {
  readonly kind = 'move';

  constructor(
    private readonly startMove: StartMove,
    private readonly backends: BackendDirectory,
  ) {}

  hostsOf(request: BulkRequest, ref: InstanceRef): readonly string[] {
    const chosen = chooseDestination({ ...moveOf(request), ref: formatRef(ref) }, ref, {
      backends: this.backends,
      concerns: new Concerns(),
    });
    return [...new Set([ref.context, ...(chosen ? [chosen.backend.context] : [])])];
  }

  async start(
    request: BulkRequest,
    ref: InstanceRef,
    { task, caller }: { task: string; caller: Caller },
  ): Promise<void> {
    try {
      await this.startMove.run({ ...moveOf(request), ref: formatRef(ref) }, task, caller);
    } catch (error) {
      const plan = planOfRefusal<MovePlan>(error);
      throw plan ? memberRefused(plan) : error;
    }
  }
}

/** The result of the member has all refusals, with their remedies. */
const memberRefused = ({ refusals }: MovePlan): DomainError =>
  new DomainError(
    'WRONG_STATE',
    refusals.map(({ reason, remedy }) => `${reason} ${remedy}`.trim()).join(' ') || 'The move is refused.',
    { details: { code: refusals[0]?.code } },
  );

interface PreparedQueue {
  readonly request: QueueRequest;
  readonly plan: QueuePlan;
}

/** Starts the moves of many VMs as one bulk task, unless a preflight of all of them refuses it. */
export class StartQueue extends Change<
  [request: QueueRequest, refs: readonly InstanceRef[]],
  AcceptedQueue,
  PreparedQueue,
  QueuePlan
> {
  constructor(
    private readonly planQueue: PlanQueue,
    private readonly tasks: TaskRunner,
    members: MoveMembers,
  ) {
    super();
    tasks.defineQueue(members);
  }

  protected override async prepare(request: QueueRequest, refs: readonly InstanceRef[]): Promise<PreparedQueue> {
    return { request, plan: await this.planQueue.run(request, refs) };
  }

  protected override async planPrepared({ plan }: PreparedQueue): Promise<QueuePlan> {
    return plan;
  }

  /** @throws DomainError MOVE_REFUSED with the plan */
  protected override async runPrepared({ request, plan }: PreparedQueue, caller: Caller): Promise<AcceptedQueue> {
    const isAccepted = plan.ok || (request.skipRefused && plan.members.some(({ ok }) => ok));
    if (!isAccepted) throw moveRefused(plan);
    const { move, perHost } = request;
    const members = plan.members.map(({ source }) => source);
    return { plan, task: await this.tasks.startBulk({ action: 'move', move, perHost }, members, caller) };
  }
}

const moveOf = ({ move }: BulkRequest): SharedMoveRequest => move as SharedMoveRequest;

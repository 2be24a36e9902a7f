import {
  DomainError,
  formatRef,
  type BackendDirectory,
  type BulkOrder,
  type Caller,
  type InstanceRef,
  type MemberTasks,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { chooseDestination } from '../plan/choose-destination.js';
import { Concerns } from '../plan/move-plan.js';
import type { StartMove } from '../start-move.js';
import type { PlanQueue, QueuePlan } from './plan-queue.js';
import type { QueueRequest, SharedMoveRequest } from './queue-request.js';

export interface AcceptedQueue {
  readonly plan: QueuePlan;
  /** The ID of the bulk task; absent when the queue was refused. */
  readonly task?: string;
}

/** The members of a queue are moves like those of single requests, each with a preflight of its own when its turn comes. */
export class MoveMembers implements MemberTasks {
  readonly kind = 'move';

  constructor(
    private readonly startMove: StartMove,
    private readonly backends: BackendDirectory,
  ) {}

  hostsOf(order: BulkOrder, ref: InstanceRef): readonly string[] {
    const chosen = chooseDestination({ ...moveOf(order), ref: formatRef(ref) }, ref, {
      backends: this.backends,
      concerns: new Concerns(),
    });
    return [...new Set([ref.context, ...(chosen ? [chosen.backend.context] : [])])];
  }

  async start(order: BulkOrder, ref: InstanceRef, { task, caller }: { task: string; caller: Caller }): Promise<void> {
    const { plan, task: started } = await this.startMove.run({ ...moveOf(order), ref: formatRef(ref) }, caller, task);
    if (started !== undefined) return;
    const [first] = plan.refusals;
    throw new DomainError(
      'WRONG_STATE',
      plan.refusals.map(({ reason, remedy }) => `${reason} ${remedy}`.trim()).join(' ') || 'The move is refused.',
      { details: { code: first?.code } },
    );
  }
}

/** Starts the moves of many VMs as one bulk task, unless a preflight of all of them refuses it. */
export class StartQueue {
  constructor(
    private readonly planQueue: PlanQueue,
    private readonly tasks: TaskRunner,
    members: MoveMembers,
  ) {
    tasks.defineQueue(members);
  }

  async run(request: QueueRequest, refs: readonly InstanceRef[], caller: Caller): Promise<AcceptedQueue> {
    const plan = await this.planQueue.run(request, refs);
    const isAccepted = plan.ok || (request.skipRefused && plan.members.some(({ ok }) => ok));
    if (!isAccepted) return { plan };
    const { move, perHost } = request;
    const members = plan.members.map(({ source }) => source);
    return { plan, task: await this.tasks.startBulk({ action: 'move', move, perHost }, members, caller) };
  }
}

const moveOf = ({ move }: BulkOrder): SharedMoveRequest => move as SharedMoveRequest;

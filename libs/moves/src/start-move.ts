import { randomUUID } from 'node:crypto';
import { DomainError, formatRef, type Audit, type Caller, type DefinedTask } from '@headgate/domain-contracts';
import type { MoveInput } from './move-input.js';
import type { MovePlan } from './plan/move-plan.js';
import type { MoveRequest } from './plan/move-request.js';
import type { MovesInProgress } from './moves-in-progress.js';
import type { PlanMove } from './plan/plan-move.js';

export interface AcceptedMove {
  readonly plan: MovePlan;
  /** The ID of the task; absent when the plan has refusals. */
  readonly task?: string;
}

/** Starts a move, unless a preflight at this moment refuses it. */
export class StartMove {
  constructor(
    private readonly planMove: PlanMove,
    private readonly task: DefinedTask<MoveInput>,
    private readonly inProgress: MovesInProgress,
    private readonly audit: Audit,
  ) {}

  /** @param id of the task, if it is known before */
  async run(request: MoveRequest, caller: Caller, id?: string): Promise<AcceptedMove> {
    const { plan, source, destination, mapping, os, copiesFirmwareVariables } = await this.planMove.run(request);
    if (!plan.ok || !source || !destination) return { plan };
    // Two requests may have been checked at the same time.
    if (this.inProgress.has(source.ref))
      throw new DomainError('BUSY', `${source.ref.name} is being moved already: wait until that task has ended.`);
    const input: MoveInput = {
      id: randomUUID(),
      source: formatRef(source.ref),
      destination: formatRef(destination),
      uid: source.uid,
      mode: request.mode ?? 'cold',
      wasRunning: source.status === 'Running',
      deleteSource: plan.deleteSource,
      mapping,
      ...(os !== undefined && { os }),
      ...(copiesFirmwareVariables && { copiesFirmwareVariables }),
    };
    const start = async (): Promise<string> => {
      await this.inProgress.reserve(input.source);
      const order = { name: source.ref.name, ref: input.source, input, ...(id !== undefined && { id }) };
      const task = await this.task.start(order, caller).catch(async (error: unknown) => {
        await this.inProgress.giveUp(input.source);
        throw error;
      });
      await this.inProgress.begin(input.source, task);
      return task;
    };
    const task = await this.audit.of(caller, 'move', source.ref, start, () => `to ${input.destination}`);
    return { plan, task };
  }
}

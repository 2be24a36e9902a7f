import { randomUUID } from 'node:crypto';
import {
  DomainError,
  formatRef,
  parseRef,
  type Audit,
  type BackendDirectory,
  type Caller,
  type DefinedTask,
  type Reservation,
  type Reservations,
} from '@headgate/domain-contracts';
import type { MoveInput } from './move-input.js';
import { chooseDestination } from './plan/choose-destination.js';
import { Concerns, type MovePlan } from './plan/move-plan.js';
import type { MoveRequest } from './plan/move-request.js';
import type { PlanMove } from './plan/plan-move.js';
import { workOfMove } from './plan/work-of-move.js';

export interface AcceptedMove {
  readonly plan: MovePlan;
  /** The ID of the task; absent when the plan has refusals. */
  readonly task?: string;
}

export interface StartMoveDeps {
  readonly planMove: PlanMove;
  readonly task: DefinedTask<MoveInput>;
  readonly backends: BackendDirectory;
  readonly reservations: Reservations;
  readonly audit: Audit;
}

/** Starts a move, unless a preflight at this moment refuses it. */
export class StartMove {
  constructor(private readonly deps: StartMoveDeps) {}

  /**
   * @param id of the task, if it is known before
   * @throws DomainError BUSY when another replica changes the source
   */
  async run(request: MoveRequest, caller: Caller, id?: string): Promise<AcceptedMove> {
    const { planMove, backends, reservations } = this.deps;
    const source = parseRef(request.ref);
    const work = workOfMove(source, chooseDestination(request, source, { backends, concerns: new Concerns() }));
    try {
      return await reservations.during(work, (reservation) => this.start(request, caller, reservation, id));
    } catch (error) {
      if (!DomainError.is(error, 'BUSY')) throw error;
      // The answer has all refusals, not only this one.
      const { plan } = await planMove.run(request);
      if (plan.ok) throw error;
      return { plan };
    }
  }

  private async start(
    request: MoveRequest,
    caller: Caller,
    reservation: Reservation,
    id: string | undefined,
  ): Promise<AcceptedMove> {
    const { planMove, task, audit } = this.deps;
    const { plan, source, destination, mapping, os, copiesFirmwareVariables } = await planMove.run(request, true);
    if (!plan.ok || !source || !destination) return { plan };
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
    const order = { name: source.ref.name, ref: input.source, input, reservation, ...(id !== undefined && { id }) };
    const started = await audit.of(
      caller,
      'move',
      source.ref,
      () => task.start(order, caller),
      () => `to ${input.destination}`,
    );
    return { plan, task: started };
  }
}

import { randomUUID } from 'node:crypto';
import {
  Change,
  DomainError,
  formatRef,
  parseRef,
  type Audit,
  type BackendDirectory,
  type Caller,
  type DefinedTask,
  type Reservation,
  type Reservations,
  type Work,
} from '@headgate/domain-contracts';
import type { MoveInput } from './move-input.js';
import { chooseDestination } from './plan/choose-destination.js';
import { Concerns, type MovePlan } from './plan/move-plan.js';
import type { MoveRequest } from './plan/move-request.js';
import type { PlanMove } from './plan/plan-move.js';
import { moveRefused } from './plan/refused-move.js';
import { variantOfMove } from './plan/variant-of-move.js';
import { workOfMove } from './plan/work-of-move.js';

export interface AcceptedMove {
  readonly plan: MovePlan;
  /** The ID of the task. */
  readonly task: string;
}

export interface StartMoveDeps {
  readonly planMove: PlanMove;
  readonly task: DefinedTask<MoveInput>;
  readonly backends: BackendDirectory;
  readonly reservations: Reservations;
  readonly audit: Audit;
}

interface PreparedMove {
  readonly request: MoveRequest;
  /** Of the task, if it is known before. */
  readonly id: string | undefined;
  readonly work: Work;
}

/** Starts a move, unless a preflight at this moment refuses it. */
export class StartMove extends Change<
  [request: MoveRequest, id: string | undefined],
  AcceptedMove,
  PreparedMove,
  MovePlan
> {
  constructor(private readonly deps: StartMoveDeps) {
    super();
  }

  /** @throws DomainError INVALID_REF */
  protected override prepare(request: MoveRequest, id: string | undefined): PreparedMove {
    const { backends } = this.deps;
    const source = parseRef(request.ref);
    const chosen = chooseDestination(request, source, { backends, concerns: new Concerns() });
    return { request, id, work: workOfMove(source, chosen) };
  }

  /** Has refusals instead of the conflicts that other plans have as warnings. */
  protected override async planPrepared({ request }: PreparedMove): Promise<MovePlan> {
    return (await this.deps.planMove.run(request)).plan;
  }

  /** @throws DomainError MOVE_REFUSED with the plan; BUSY when another replica changes the source */
  protected override async runPrepared(move: PreparedMove, caller: Caller): Promise<AcceptedMove> {
    try {
      return await this.deps.reservations.during(move.work, (reservation) => this.start(move, caller, reservation));
    } catch (error) {
      if (!DomainError.is(error, 'BUSY')) throw error;
      // The answer has all refusals, not only this one.
      const plan = await this.planPrepared(move);
      if (plan.ok) throw error;
      throw moveRefused(plan);
    }
  }

  private async start({ request, id }: PreparedMove, caller: Caller, reservation: Reservation): Promise<AcceptedMove> {
    const { planMove, task, audit } = this.deps;
    const { plan, source, destination, mapping, os, copiesFirmwareVariables } = await planMove.run(request, true);
    if (!plan.ok || !source || !destination) throw moveRefused(plan);
    // The list, which the plan is made of, may be older than a request to stop.
    if (
      source.isRunning &&
      source.ref.kind === 'vm' &&
      !(await this.deps.backends.get(source.ref.context).require('power').staysOn(source.ref))
    )
      throw new DomainError('BUSY', `${source.ref.name} is being stopped: move it when that is done.`);
    const input: MoveInput = {
      id: randomUUID(),
      source: formatRef(source.ref),
      destination: formatRef(destination),
      uid: source.uid,
      mode: request.mode ?? 'cold',
      wasRunning: source.isRunning,
      deleteSource: plan.deleteSource,
      mapping,
      ...(os !== undefined && { os }),
      ...(copiesFirmwareVariables && { copiesFirmwareVariables }),
    };
    const variant = variantOfMove(plan);
    const named = { name: source.ref.name, ref: input.source, ...(id !== undefined && { id }) };
    const start = { ...named, input, variant, reservation };
    const started = await audit.of(
      caller,
      'move',
      source.ref,
      () => task.start(start, caller),
      () => `to ${input.destination}`,
    );
    return { plan, task: started };
  }
}

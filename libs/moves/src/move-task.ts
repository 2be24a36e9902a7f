import {
  parseRef,
  type Resumption,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { ColdMove, type ColdMoveDeps } from './modes/cold-move.js';
import { ContainerMove } from './modes/container-move.js';
import { CopySteps, type CopyStepsDeps } from './modes/copy-steps.js';
import { LiveMove, type LiveMoveDeps } from './modes/live-move.js';
import type { MoveStrategy } from './modes/move-strategy.js';
import { WarmMove, type WarmMoveDeps } from './modes/warm-move.js';
import type { MoveInput } from './move-input.js';
import type { MoveMode } from './plan/move-request.js';

export interface MoveTaskDeps extends CopyStepsDeps, ColdMoveDeps, WarmMoveDeps, LiveMoveDeps {}

/** The task of a move. Its mode and the kind of the instance decide on the steps. */
export class MoveTask implements TaskDefinition<MoveInput> {
  readonly kind = 'move';

  private readonly strategies: Readonly<Record<MoveMode, MoveStrategy>>;
  private readonly ofContainers: MoveStrategy;

  constructor(deps: MoveTaskDeps) {
    const shared = new CopySteps(deps);
    this.strategies = {
      cold: new ColdMove(deps, shared),
      warm: new WarmMove(deps, shared),
      live: new LiveMove(deps),
    };
    this.ofContainers = new ContainerMove(deps);
  }

  steps(input: MoveInput): readonly StepDefinition<MoveInput>[] {
    return this.strategyOf(input).steps(input);
  }

  resume(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<Resumption> {
    return this.strategyOf(journal.input).resume(journal, context);
  }

  rollback(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    return this.strategyOf(journal.input).rollback(journal, context);
  }

  result(journal: TaskJournal<MoveInput>): object | undefined {
    return this.strategyOf(journal.input).result(journal);
  }

  private strategyOf({ source, mode = 'cold' }: MoveInput): MoveStrategy {
    return parseRef(source).kind === 'ct' ? this.ofContainers : this.strategies[mode];
  }
}

import {
  formatRef,
  parseRef,
  reporterOf,
  throwFirstRefusal,
  type DefinedTask,
  type DiskMove,
  type DiskMoveRequest,
  type FoundInstance,
  type InstanceRef,
  type Plan,
  type TaskContext,
  type TaskJournal,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit, type InstanceChangeDeps } from '../instance-change.js';
import { refuseImpossibleName } from './refuse-impossible-names.js';

/** A copy reports its progress. */
const STALL_MS = 60 * 60_000;

interface MoveInput extends DiskMoveRequest {
  /** The VM, as text. */
  readonly ref: string;
}

export interface MoveDiskDeps extends InstanceChangeDeps {
  readonly tasks: TaskRunner;
}

/**
 * Moves a disk of a running VM to another storage, in a task that continues after a restart. Its result is the ID of
 * the task.
 */
export class MoveDisk extends InstanceChange<'diskMove', [request: DiskMoveRequest], string> {
  protected override readonly ability = 'diskMove';
  private readonly moves: DefinedTask<MoveInput>;

  constructor(deps: MoveDiskDeps) {
    super(deps);
    this.moves = deps.tasks.define<MoveInput>({
      kind: 'disk',
      steps: () => [
        {
          name: 'Move the disk',
          isCancelable: true,
          stallMs: STALL_MS,
          waitsFor: 'the copy of the disk',
          ifStalled: 'The backend may still move the disk: look at it before you move it again.',
          run: async (context) => {
            const { input, attempt } = context;
            const ref = parseRef(input.ref);
            const diskMove = this.abilityOf(ref);
            const work = attempt === 1 ? await diskMove.move(ref, input) : await diskMove.resume(ref, input);
            await work(reporterOf(context));
          },
        },
      ],
      resume: async ({ input }) => {
        // Throws while the context is lost, so that the task waits for it.
        this.abilityOf(parseRef(input.ref));
        return { action: 'continue' };
      },
      rollback: (journal, context) => this.undo(journal, context),
    });
  }

  protected override operationOf() {
    return 'move-disk' as const;
  }

  protected override actionOf({ volume, storage }: DiskMoveRequest): string {
    return `move disk ${volume} to ${storage}`;
  }

  protected override async planOn(
    { ref, ability }: FoundInstance<'diskMove'>,
    request: DiskMoveRequest,
  ): Promise<Plan> {
    return refuseImpossibleName(await ability.plan(ref, request), request.volume);
  }

  protected override async runOn(
    found: FoundInstance<'diskMove'>,
    { caller, reservation }: Permit,
    { volume, storage }: DiskMoveRequest,
  ): Promise<string> {
    throwFirstRefusal(await this.planOn(found, { volume, storage }));
    const { name } = found.ref;
    const ref = formatRef(found.ref);
    return this.moves.start({ name, ref, input: { ref, volume, storage }, reservation }, caller);
  }

  private abilityOf({ context }: InstanceRef): DiskMove {
    return this.deps.backends.get(context).require('diskMove');
  }

  /** A move that fails undoes itself. After a restart, it is undone here if it can't continue. */
  private async undo({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    if ((steps.at(-1)?.attempts ?? 0) === 0) return;
    const ref = parseRef(input.ref);
    const canceled = new Error('The move was canceled.');
    const work = await this.abilityOf(ref).resume(ref, input);
    const { log, progress } = context;
    const signal = AbortSignal.abort(canceled);
    await work({ step: log, log, progress, signal }).catch((error: unknown) =>
      log(error === canceled ? 'The disk is where it was.' : (error as Error).message),
    );
  }
}

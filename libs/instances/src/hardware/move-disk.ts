import {
  Change,
  formatRef,
  parseRef,
  throwFirstRefusal,
  type Audit,
  type BackendDirectory,
  type BackgroundWork,
  type Caller,
  type DefinedTask,
  type DiskMove,
  type DiskMoveRequest,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type TaskContext,
  type TaskJournal,
  type TaskRunner,
} from '@headgate/domain-contracts';

interface MoveInput extends DiskMoveRequest {
  /** The VM, as text. */
  readonly ref: string;
}

/** Moves a disk of a running VM to another storage, in a task that continues after a restart. */
export class MoveDisk extends Change<[query: InstanceQuery, request: DiskMoveRequest], string> {
  private readonly moves: DefinedTask<MoveInput>;

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    tasks: TaskRunner,
    private readonly audit: Audit,
  ) {
    super();
    this.moves = tasks.define<MoveInput>({
      kind: 'disk',
      steps: () => [
        {
          name: 'Move the disk',
          isCancelable: true,
          run: async ({ input, attempt, ...context }) => {
            const ref = parseRef(input.ref);
            const diskMove = this.abilityOf(ref);
            const work = attempt === 1 ? await diskMove.move(ref, input) : await diskMove.resume(ref, input);
            await report(work, context);
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

  override async plan(query: InstanceQuery, request: DiskMoveRequest): Promise<Plan> {
    const { ref } = this.directory.resolve(query);
    return this.abilityOf(ref).plan(ref, request);
  }

  /** @returns the ID of the task that follows the copy to its end */
  override async run(query: InstanceQuery, { volume, storage }: DiskMoveRequest, caller: Caller): Promise<string> {
    const { ref } = this.directory.resolve(query);
    return this.audit.of(caller, `move disk ${volume} to ${storage}`, ref, async () => {
      throwFirstRefusal(await this.abilityOf(ref).plan(ref, { volume, storage }));
      return this.moves.start(
        { name: ref.name, ref: formatRef(ref), input: { ref: formatRef(ref), volume, storage } },
        caller,
      );
    });
  }

  private abilityOf({ context }: InstanceRef): DiskMove {
    return this.backends.get(context).require('diskMove');
  }

  /** A move that fails undoes itself. After a restart, it is undone here if it can't continue. */
  private async undo({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    if ((steps.at(-1)?.attempts ?? 0) === 0) return;
    const ref = parseRef(input.ref);
    const canceled = new Error('The move was canceled.');
    const work = await this.abilityOf(ref).resume(ref, input);
    await report(work, { ...context, signal: AbortSignal.abort(canceled) }).catch((error: unknown) =>
      context.log(error === canceled ? 'The disk is where it was.' : (error as Error).message),
    );
  }
}

const report = (work: BackgroundWork, { log, progress, signal }: TaskContext): Promise<void> =>
  work({ step: log, log, progress, signal });

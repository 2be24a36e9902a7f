import {
  Change,
  formatRef,
  parseRef,
  reporterOf,
  throwFirstRefusal,
  workOn,
  type Audit,
  type BackendDirectory,
  type Caller,
  type DefinedTask,
  type DiskMove,
  type DiskMoveRequest,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type Reservations,
  type TaskContext,
  type TaskJournal,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { refuseImpossibleName } from './refuse-impossible-names.js';
import { findChangeable } from '../find-changeable.js';

/** A copy reports its progress. */
const STALL_MS = 60 * 60_000;

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
    private readonly reservations: Reservations,
  ) {
    super();
    this.moves = tasks.define<MoveInput>({
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

  override async plan(query: InstanceQuery, request: DiskMoveRequest): Promise<Plan> {
    const { ref } = findChangeable(this.directory, query);
    return this.reservations.plan(workOn('move-disk', ref), async () =>
      refuseImpossibleName(await this.abilityOf(ref).plan(ref, request), request.volume),
    );
  }

  /** @returns the ID of the task that follows the copy to its end */
  override async run(query: InstanceQuery, { volume, storage }: DiskMoveRequest, caller: Caller): Promise<string> {
    const { ref, uid } = findChangeable(this.directory, query);
    return this.reservations.during(workOn('move-disk', ref), async (reservation) => {
      findChangeable(this.directory, { ...ref, uid });
      return this.audit.of(caller, `move disk ${volume} to ${storage}`, ref, async () => {
        throwFirstRefusal(refuseImpossibleName(await this.abilityOf(ref).plan(ref, { volume, storage }), volume));
        const text = formatRef(ref);
        const input = { ref: text, volume, storage };
        return this.moves.start({ name: ref.name, ref: text, input, reservation }, caller);
      });
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
    const { log, progress } = context;
    const signal = AbortSignal.abort(canceled);
    await work({ step: log, log, progress, signal }).catch((error: unknown) =>
      log(error === canceled ? 'The disk is where it was.' : (error as Error).message),
    );
  }
}

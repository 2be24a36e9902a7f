import {
  buildPlan,
  Change,
  DomainError,
  formatBytes,
  type Audit,
  type BackupTarget,
  type BackupTargetStore,
  type Caller,
  type Clock,
  type DefinedTask,
  type Plan,
  type StepContext,
  type StepDefinition,
  type TaskDefinition,
} from '@headgate/domain-contracts';
import { pointsOf, type BackupPoint } from './backup-point.js';
import type { BackupStore, BackupStores } from './backup-store.js';
import { findTarget } from './find-target.js';
import type { ProofStore } from './proof-store.js';
import { hasRules, type KeepRules, type Retention } from './retention.js';
import { whenFree } from './when-free.js';

export interface TargetCareDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
}

export interface CleanDeps extends TargetCareDeps {
  readonly retention: Retention;
  readonly proofs: Pick<ProofStore, 'of'>;
}

const STALL_MS = 60 * 60_000;
/** A clean-up waits for the backups of a night. */
const MAX_WAIT_MS = 8 * 60 * 60_000;
const MAX_LOGGED = 20;

export interface CleanInput {
  readonly target: string;
  readonly rules: KeepRules;
  /** Of the IANA database. */
  readonly timeZone: string;
  /** After a run of a schedule; without it, the rules hold for all VMs. */
  readonly only?: {
    /** Its ID. Only the points that it has created count. */
    readonly schedule: string;
    /** The tasks whose points are new: only their VMs count, and the new points stay, whatever the clock said. */
    readonly tasks: readonly string[];
  };
  /** Whether a point is deleted only if a newer one of its VM has booted. */
  readonly onlyIfProved?: boolean;
}

/**
 * The points that the rules do not keep, by VM: only those that this service has created in this target, and never the
 * newest one of a VM.
 * @param points the newest first
 * @param hasBooted whether a point has a certificate that says so
 */
export function pointsToDelete(
  points: readonly BackupPoint[],
  { target, rules, timeZone, only, onlyIfProved = false }: CleanInput,
  retention: Retention,
  hasBooted: (point: BackupPoint) => boolean,
): BackupPoint[] {
  if (!hasRules(rules)) return [];
  const own = points.filter(({ series, schedule }) => series === target && (!only || schedule === only.schedule));
  const created = new Set(only?.tasks);
  const isNew = ({ task }: BackupPoint): boolean => created.has(task);
  return [...Map.groupBy(own, ({ uid }) => uid).values()].flatMap((ofVm) => {
    if (only && !ofVm.some(isNew)) return [];
    // The newest comes first.
    const newest = onlyIfProved ? ofVm.findIndex(hasBooted) : 0;
    if (newest < 0) return [];
    const kept = retention.kept(ofVm, rules, timeZone);
    return ofVm.slice(newest + 1).filter((point) => !kept.has(point.id) && !isNew(point));
  });
}

/** Deletes the points that rules do not keep, and the content that no point needs. */
export class CleanTask implements TaskDefinition<CleanInput> {
  readonly kind = 'clean-backups';

  constructor(private readonly deps: CleanDeps & { readonly clock: Clock }) {}

  steps(): readonly StepDefinition<CleanInput>[] {
    return [this.stepOf((input) => input)];
  }

  /** The clean-up as a step, also of another task. @param cleanOf its part of the input of that task */
  stepOf<Input extends object>(cleanOf: (input: Input) => CleanInput): StepDefinition<Input> {
    return {
      name: 'clean',
      isCancelable: true,
      stallMs: STALL_MS,
      waitsFor: 'the target to be cleaned up',
      ifStalled: 'A later clean-up goes on.',
      run: (context) => this.clean({ ...context, input: cleanOf(context.input) }),
    };
  }

  /** Deletes the points and then the content, each while no other process uses the target. */
  private async clean(
    context: StepContext<CleanInput>,
  ): Promise<{ readonly deleted: number; readonly freedBytes: number }> {
    const { input, signal, log } = context;
    const { stores, targets, retention, proofs, clock } = this.deps;
    const waiting = { ...context, clock, atMost: MAX_WAIT_MS };
    const store = await stores.open(findTarget(targets, input.target));
    const gone = pointsToDelete(pointsOf(await store.snapshots()), input, retention, hasBooted(proofs, input));
    for (const { ref, time } of gone.slice(0, MAX_LOGGED)) log(`The backup of ${ref} of ${time} is deleted.`);
    if (gone.length > MAX_LOGGED) log(`${gone.length - MAX_LOGGED} more backups are deleted.`);
    const ids = gone.map(({ id }) => id);
    await whenFree(() => store.forget(ids), waiting);
    signal.throwIfAborted();
    // Nothing is free without this, but a backup to the same target goes on first.
    const freedBytes = await whenFree(() => store.prune(signal), waiting);
    log(`${formatBytes(freedBytes)} are free again.`);
    return { deleted: gone.length, freedBytes };
  }

  /** It looks at the target again. */
  async resume() {
    return { action: 'continue' } as const;
  }

  result({ steps }: { readonly steps: readonly { readonly result?: unknown }[] }): object | undefined {
    return steps[0]?.result as object | undefined;
  }
}

const hasBooted =
  (proofs: Pick<ProofStore, 'of'>, { target }: CleanInput) =>
  ({ id }: BackupPoint): boolean =>
    proofs.of(target, id)?.certificate.outcome === 'booted';

export interface CheckInput {
  readonly target: string;
  readonly readData: boolean;
}

/** Verifies a target. The task fails if a part is damaged. */
export class CheckTask implements TaskDefinition<CheckInput> {
  readonly kind = 'check-backups';

  constructor(private readonly deps: TargetCareDeps) {}

  steps(): readonly StepDefinition<CheckInput>[] {
    return [
      {
        name: 'check',
        isCancelable: true,
        stallMs: STALL_MS,
        waitsFor: 'the check of the target',
        ifStalled: 'Check it again.',
        run: async ({ input, signal, log, bytes }) => {
          const { stores, targets } = this.deps;
          const store = await stores.open(findTarget(targets, input.target));
          const { problems, snapshots, readBytes } = await store.check({ ...input, signal, report: bytes });
          for (const problem of problems.slice(0, MAX_LOGGED)) log(problem);
          if (problems.length > 0)
            throw new DomainError('BACKEND_FAILED', `${problems.length} parts are damaged. ${problems[0] ?? ''}`);
          log(`${snapshots} backups are intact. ${formatBytes(readBytes)} were read.`);
          return { snapshots, readBytes };
        },
      },
    ];
  }

  async resume() {
    return { action: 'continue' } as const;
  }

  result({ steps }: { readonly steps: readonly { readonly result?: unknown }[] }): object | undefined {
    return steps[0]?.result as object | undefined;
  }
}

interface CareDeps<Input extends object> extends TargetCareDeps {
  readonly task: DefinedTask<Input>;
  readonly audit: Audit;
}

interface PreparedCare<Input> {
  readonly target: BackupTarget;
  readonly input: Input;
}

/** Starts a clean-up as a task. @returns the ID of the task */
export class CleanTarget extends Change<[input: CleanInput], string, PreparedCare<CleanInput>> {
  constructor(private readonly deps: CareDeps<CleanInput> & CleanDeps) {
    super();
  }

  protected override prepare(input: CleanInput): PreparedCare<CleanInput> {
    if (!hasRules(input.rules))
      throw new DomainError('INVALID_INPUT', 'keep: set at least one of last, hourly, daily, weekly, monthly, yearly.');
    return { target: findTarget(this.deps.targets, input.target), input };
  }

  protected override async planPrepared({ target, input }: PreparedCare<CleanInput>): Promise<Plan> {
    const store: BackupStore = await this.deps.stores.open(target);
    const { retention, proofs } = this.deps;
    const gone = pointsToDelete(pointsOf(await store.snapshots()), input, retention, hasBooted(proofs, input));
    return buildPlan([
      ...gone.map(({ ref, time }) => ({ name: 'delete', detail: `Delete the backup of ${ref} of ${time}.` })),
      { name: 'free', detail: `Remove the content that no backup in ${target.name} needs.` },
    ]);
  }

  protected override runPrepared({ target, input }: PreparedCare<CleanInput>, caller: Caller): Promise<string> {
    const { audit, task } = this.deps;
    return audit.of(caller, 'clean up backups', `backup-target/${target.name}`, () =>
      task.start({ name: target.name, ref: '', input }, caller),
    );
  }
}

/** Starts a check as a task. @returns the ID of the task */
export class CheckTarget extends Change<[input: CheckInput], string, PreparedCare<CheckInput>> {
  constructor(private readonly deps: CareDeps<CheckInput>) {
    super();
  }

  protected override prepare(input: CheckInput): PreparedCare<CheckInput> {
    return { target: findTarget(this.deps.targets, input.target), input };
  }

  protected override async planPrepared({ target, input }: PreparedCare<CheckInput>): Promise<Plan> {
    const detail = input.readData ? 'Read all of' : 'Read the lists of';
    return buildPlan([{ name: 'check', detail: `${detail} ${target.name} and compare it with its hashes.` }]);
  }

  protected override runPrepared({ target, input }: PreparedCare<CheckInput>, caller: Caller): Promise<string> {
    const { audit, task } = this.deps;
    return audit.of(caller, 'check backups', `backup-target/${target.name}`, () =>
      task.start({ name: target.name, ref: '', input }, caller),
    );
  }
}

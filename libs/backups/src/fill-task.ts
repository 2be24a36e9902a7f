import type {
  BackendDirectory,
  BackupTargetStore,
  IngestState,
  InstanceDirectory,
  Resumption,
  StepContext,
  StepDefinition,
  TaskContext,
  TaskDefinition,
  TaskJournal,
} from '@headgate/domain-contracts';
import { VARIABLES_PATH } from './backup-point.js';
import type { BackupStore, BackupStores } from './backup-store.js';
import { copyDisks, type CopiedDisks, type DiskReceiver } from './copy-disks.js';
import { findTarget } from './find-target.js';
import type { Manifest } from './manifest.js';
import { readManifest } from './restored-vm.js';

export interface RestoreTaskDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly backends: BackendDirectory;
  readonly directory: InstanceDirectory;
}

export interface FillInput {
  /** The ID of the target. */
  readonly target: string;
  readonly point: string;
  readonly copiesFirmwareVariables: boolean;
}

/** The new disks of one attempt. */
export interface FilledDisks extends DiskReceiver {
  state(): Promise<IngestState>;
  writeFirmwareVariables(content: Buffer): Promise<void>;
  /** Removes them. No error if there is nothing. */
  discard(): Promise<void>;
}

/** Sentences of a kind of restore, and what its first and last step wait for. */
export interface FillWords {
  readonly reserving: string;
  readonly committing: string;
  readonly ifStalled: string;
  /** Followed by the state: "the VM is". */
  readonly state: string;
  readonly gone: string;
  readonly complete: string;
  readonly removed: string;
}

const MINUTE_MS = 60_000;

/**
 * Fills new disks with those of a point: they are reserved, written and read back. Until the last step, no guest uses
 * them, and a restore that fails or is canceled removes them.
 */
export abstract class FillTask<Input extends FillInput> implements TaskDefinition<Input> {
  abstract readonly kind: TaskDefinition<Input>['kind'];
  protected abstract readonly words: FillWords;

  constructor(protected readonly deps: RestoreTaskDeps) {}

  protected abstract filled(input: Input): FilledDisks;
  protected abstract disksOf(manifest: Manifest, input: Input): CopiedDisks['disks'];
  protected abstract begin(context: StepContext<Input>, manifest: Manifest): Promise<void>;
  protected abstract commit(context: StepContext<Input>): Promise<void>;
  protected abstract subjectOf(input: Input): object;

  steps(): readonly StepDefinition<Input>[] {
    const { reserving, committing, ifStalled } = this.words;
    const patience = (minutes: number, waitsFor: string) => ({ stallMs: minutes * MINUTE_MS, waitsFor, ifStalled });
    return [
      {
        name: 'reserve',
        isCancelable: true,
        ...patience(15, reserving),
        run: async (context) => this.begin(context, (await this.read(context.input)).manifest),
      },
      {
        name: 'copy',
        isCancelable: true,
        weight: 20,
        ...patience(30, 'the copy of the disks'),
        run: (context) => this.copy(context),
      },
      { name: 'commit', ...patience(15, committing), run: (context) => this.commit(context) },
    ];
  }

  async resume({ input, steps }: TaskJournal<Input>, { log }: TaskContext): Promise<Resumption> {
    const disks = this.filled(input);
    const state = await disks.state();
    const last = steps.at(-1);
    log(`The service was restarted at the step ${last?.name ?? 'reserve'}; ${this.words.state} ${state}.`);
    if (!last) return { action: 'continue' };
    if (state === 'committed') return last.name === 'commit' ? { action: 'finished' } : { action: 'continue' };
    if (last.name === 'reserve' && !last.isFinished) {
      // Disks may be missing.
      await disks.discard();
      return { action: 'continue' };
    }
    return state === 'absent' ? { action: 'rollback', reason: this.words.gone } : { action: 'continue' };
  }

  async rollback({ input }: TaskJournal<Input>, { log }: TaskContext): Promise<void> {
    const disks = this.filled(input);
    if ((await disks.state()) === 'committed') return log(this.words.complete);
    await disks.discard();
    log(this.words.removed);
  }

  result({ input, steps }: TaskJournal<Input>): object {
    return { ...this.subjectOf(input), ...(steps.find(({ name }) => name === 'copy')?.result as object) };
  }

  private async read({ target, point }: Input): Promise<{ readonly store: BackupStore; readonly manifest: Manifest }> {
    const store = await this.deps.stores.open(findTarget(this.deps.targets, target));
    return { store, manifest: await readManifest(store, point) };
  }

  private async copy(context: StepContext<Input>): Promise<{ readonly writtenBytes: number }> {
    const { input } = context;
    const { point } = input;
    const filled = this.filled(input);
    const { store, manifest } = await this.read(input);
    const copied = await copyDisks({ store, point, disks: this.disksOf(manifest, input) }, filled, context);
    if (input.copiesFirmwareVariables) {
      const variables = await store.openFile(point, VARIABLES_PATH);
      await filled.writeFirmwareVariables(await variables.read(0, variables.sizeBytes));
    }
    return copied;
  }
}

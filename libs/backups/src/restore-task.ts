import {
  parseRef,
  type BackendDirectory,
  type BackupTargetStore,
  type DiskIngest,
  type IngestTarget,
  type InstanceDirectory,
  type ResourceMapping,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { VARIABLES_PATH } from './backup-point.js';
import type { BackupStore, BackupStores } from './backup-store.js';
import { copyDisks } from './copy-disks.js';
import { findTarget } from './find-target.js';
import { portableOf, readManifest } from './restored-vm.js';

/** The journaled input. Without secrets. */
export interface RestoreInput {
  /** A UUID that identifies the new VM. */
  readonly id: string;
  readonly target: string;
  readonly point: string;
  /** The ref of the new VM, as text. */
  readonly destination: string;
  readonly mapping: ResourceMapping;
  readonly keepsMacs: boolean;
  readonly copiesFirmwareVariables: boolean;
}

export interface RestoreTaskDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly backends: BackendDirectory;
  readonly directory: InstanceDirectory;
}

const MINUTE_MS = 60_000;
const LOOK = 'Look for the VM before you restore it again.';

/** Builds a VM from a point, under a name that no VM has. Until `commit`, it can't be started. */
export class RestoreTask implements TaskDefinition<RestoreInput> {
  readonly kind = 'restore-backup';

  constructor(private readonly deps: RestoreTaskDeps) {}

  steps(): readonly StepDefinition<RestoreInput>[] {
    const patience = (minutes: number, waitsFor: string) => ({
      stallMs: minutes * MINUTE_MS,
      waitsFor,
      ifStalled: LOOK,
    });
    return [
      {
        name: 'reserve',
        isCancelable: true,
        ...patience(15, 'the destination to reserve the disks'),
        run: (context) => this.reserve(context),
      },
      {
        name: 'copy',
        isCancelable: true,
        weight: 20,
        ...patience(30, 'the copy of the disks'),
        run: (context) => this.copy(context),
      },
      { name: 'commit', ...patience(15, 'the destination to complete the VM'), run: (context) => this.commit(context) },
    ];
  }

  async resume({ input, steps }: TaskJournal<RestoreInput>, { log }: TaskContext): Promise<Resumption> {
    const { ingest, target } = this.receiver(input);
    const state = await ingest.state(target);
    const last = steps.at(-1);
    log(`The service was restarted at the step ${last?.name ?? 'reserve'}; the VM is ${state}.`);
    if (!last) return { action: 'continue' };
    if (state === 'committed') return last.name === 'commit' ? { action: 'finished' } : { action: 'continue' };
    if (last.name === 'reserve' && !last.isFinished) {
      // Disks may be missing.
      await ingest.discard(target);
      return { action: 'continue' };
    }
    return state === 'absent' ? { action: 'rollback', reason: 'The new VM no longer exists.' } : { action: 'continue' };
  }

  async rollback({ input }: TaskJournal<RestoreInput>, { log }: TaskContext): Promise<void> {
    const { ingest, target } = this.receiver(input);
    if ((await ingest.state(target)) === 'committed') return log('The VM is complete and stays.');
    await ingest.discard(target);
    log('The incomplete VM was removed.');
  }

  result({ input, steps }: TaskJournal<RestoreInput>): object {
    return { destination: input.destination, ...(steps.find(({ name }) => name === 'copy')?.result as object) };
  }

  private receiver({ id, destination }: RestoreInput): { readonly ingest: DiskIngest; readonly target: IngestTarget } {
    const ref = parseRef(destination);
    return { ingest: this.deps.backends.get(ref.context).require('diskIngest'), target: { id, ref } };
  }

  private store({ target }: RestoreInput): Promise<BackupStore> {
    return this.deps.stores.open(findTarget(this.deps.targets, target));
  }

  private async reserve({ input, log }: StepContext<RestoreInput>): Promise<void> {
    const { ingest, target } = this.receiver(input);
    const manifest = await readManifest(await this.store(input), input.point);
    const losses = await ingest.begin({ ...target, vm: portableOf(manifest, input), mapping: input.mapping });
    for (const { what } of losses) log(`The VM is without this: ${what}`);
    log(`${target.ref.name} is reserved in ${target.ref.context}.`);
  }

  private async copy(context: StepContext<RestoreInput>): Promise<{ readonly writtenBytes: number }> {
    const { input } = context;
    const { ingest, target } = this.receiver(input);
    const store = await this.store(input);
    const { vm } = await readManifest(store, input.point);
    const receiver = {
      write: (disk: string, by: AbortSignal) => ingest.write(target, disk, by),
      hashes: (disk: string, by: AbortSignal) => ingest.hashes(target, disk, by),
    };
    const copied = await copyDisks({ store, point: input.point, disks: vm.disks }, receiver, context);
    if (input.copiesFirmwareVariables) {
      const variables = await store.openFile(input.point, VARIABLES_PATH);
      await ingest.writeFirmwareVariables(target, await variables.read(0, variables.sizeBytes));
    }
    return copied;
  }

  private async commit({ input, log }: StepContext<RestoreInput>): Promise<void> {
    const { ingest, target } = this.receiver(input);
    await ingest.commit(target);
    await this.deps.directory.waitFor(target.ref, (found) => found !== undefined);
    log(`${target.ref.name} is complete in ${target.ref.context}. It is stopped.`);
  }
}

import {
  DomainError,
  findInstance,
  formatBytes,
  messageOf,
  parseRef,
  type BackupReading,
  type BackupReadRequest,
  type BackupTargetStore,
  type Clock,
  type FolderDirectory,
  type InstanceRef,
  type InstanceSources,
  type PortableVm,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
  type VmReading,
} from '@headgate/domain-contracts';
import { diskPath, MANIFEST_PATH, pointsOf, tagsOf, VARIABLES_PATH, type BackupPoint } from './backup-point.js';
import type { BackupStore, BackupStores, SnapshotFiles, StoredFile } from './backup-store.js';
import { findTarget } from './find-target.js';
import { formatManifest, newManifest } from './manifest.js';
import { whenFree } from './when-free.js';
import { ParentUnreadable, withParent } from './with-parent.js';

/** The journaled input. Without secrets. */
export interface BackupInput {
  /** As text. */
  readonly ref: string;
  /** The backend's ID of the VM: another VM of its name is not backed up. */
  readonly uid: string;
  /** The ID of the target. */
  readonly target: string;
  /** The ID of the schedule that has asked for it. */
  readonly schedule?: string;
}

export interface BackupTaskDeps extends InstanceSources {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly clock: Clock;
  readonly folders: Pick<FolderDirectory, 'folderOf'>;
}

/** The result of the task. */
export interface BackedUp {
  readonly point: string;
  readonly consistency: BackupPoint['consistency'];
  readonly sizeBytes: number;
  /** Absent if the task was interrupted after the point was stored. */
  readonly readBytes?: number;
  readonly storedBytes?: number;
}

const STALL_MS = 30 * 60_000;
/** A clean-up of the target takes minutes. The next backup is later than this. */
const MAX_WAIT_MS = 30 * 60_000;

/** Reads all disks of a VM as they are at one moment, and stores them with a manifest as one snapshot. */
export class BackupTask implements TaskDefinition<BackupInput> {
  readonly kind = 'backup';

  constructor(private readonly deps: BackupTaskDeps) {}

  steps(): readonly StepDefinition<BackupInput>[] {
    return [
      {
        name: 'copy',
        isCancelable: true,
        stallMs: STALL_MS,
        waitsFor: 'the copy of the disks',
        ifStalled: 'The target has no incomplete backup.',
        run: (context) =>
          whenFree(() => this.copy(context), { ...context, clock: this.deps.clock, atMost: MAX_WAIT_MS }),
      },
    ];
  }

  /**
   * A snapshot is stored as a whole or not at all, and the backend has removed what its backup left, so the step can be
   * repeated.
   */
  async resume({ input, task }: TaskJournal<BackupInput>, { log }: TaskContext): Promise<Resumption> {
    const store = await this.open(input);
    const stored = pointsOf(await store.snapshots()).find((point) => point.task === task);
    log(stored ? 'The backup was stored before the restart.' : 'The backup begins again after a restart.');
    return stored ? { action: 'finished', result: resultOf(stored) } : { action: 'continue' };
  }

  /** Nothing to undo: the reading is closed, and the target has nothing that counts. */
  async rollback(_journal: TaskJournal<BackupInput>, { log }: TaskContext): Promise<void> {
    log('No backup was stored.');
  }

  result({ steps }: TaskJournal<BackupInput>): object | undefined {
    return steps.find(({ name }) => name === 'copy')?.result as BackedUp | undefined;
  }

  private async open({ target }: BackupInput): Promise<BackupStore> {
    return this.deps.stores.open(findTarget(this.deps.targets, target));
  }

  private async copy(context: StepContext<BackupInput>): Promise<BackedUp> {
    const { input } = context;
    const store = await this.open(input);
    // Before the guest notices anything.
    await store.expectWritable();
    const points = pointsOf(await store.snapshots());
    const base = points.find(
      ({ uid, series, checkpoint }) => uid === input.uid && series === input.target && checkpoint !== undefined,
    );
    try {
      return await this.copySince(context, store, base);
    } catch (error) {
      if (!(error instanceof ParentUnreadable)) throw error;
      context.log(`${error.message} All is read instead: ${messageOf(error.cause)}`);
      return this.copySince(context, store, undefined);
    }
  }

  /** @throws ParentUnreadable */
  private async copySince(
    context: StepContext<BackupInput>,
    store: BackupStore,
    base: BackupPoint | undefined,
  ): Promise<BackedUp> {
    const { input, task, signal, log } = context;
    const ref = parseRef(input.ref);
    const described = await this.describe(ref, input.uid);
    const { ability } = this.find(ref, input.uid);
    const since = base?.checkpoint;
    const request: BackupReadRequest = {
      series: input.target,
      ...(since !== undefined && { since }),
      report: (copied) => context.bytes(copied, Math.max(copied, sizeOf(described.vm.disks))),
    };
    const reading = await ability.open(ref, request, signal);
    let isStored = false;
    try {
      // The VM may have been replaced by another one of its name meanwhile.
      const { instance } = this.find(ref, input.uid);
      log(openingLine(reading, base));
      for (const warning of reading.warnings) log(warning);
      const time = this.deps.clock.iso();
      const sizeBytes = sizeOf(reading.disks);
      const { consistency, checkpoint } = reading;
      const { uid, target: series, schedule } = input;
      const point = { uid, ref: input.ref, consistency, task, series, sizeBytes };
      const tags = tagsOf({
        ...point,
        ...(checkpoint !== undefined && { checkpoint }),
        ...(schedule !== undefined && { schedule }),
      });
      const written = await store.write(
        {
          time,
          path: `/${instance.ref.context}/${instance.ref.namespace}/${instance.ref.name}`,
          tags,
          signal,
          report: (bytes) => context.bytes(Math.min(bytes, sizeBytes), sizeBytes),
        },
        async (files) => {
          await storeDisks({ files, store }, reading, base);
          await this.storeManifest(files, { input, described, reading, time, log });
        },
      );
      isStored = true;
      log(
        `${formatBytes(written.readBytes)} were read, and the target has grown by ${formatBytes(written.storedBytes)}.`,
      );
      const { id, readBytes, storedBytes } = written;
      return { ...resultOf({ id, consistency, sizeBytes }), readBytes, storedBytes };
    } finally {
      // A target that was removed meanwhile has no next backup.
      const isWanted = this.deps.targets.all().some(({ id }) => id === input.target);
      await reading.close({ keep: isStored && isWanted }).catch((error: unknown) => {
        // A checkpoint that is missing costs a whole backup.
        log(`The reading was not closed completely: ${messageOf(error)}`);
      });
    }
  }

  private find(ref: InstanceRef, uid: string) {
    return findInstance(this.deps, { ...ref, uid }, 'backupSource');
  }

  private describe(ref: InstanceRef, uid: string): Promise<VmReading> {
    return findInstance(this.deps, { ...ref, uid }, 'diskSource').ability.describe(ref);
  }

  private async storeManifest(
    files: SnapshotFiles,
    {
      input,
      described: { vm, losses },
      reading,
      time,
      log,
    }: {
      readonly input: BackupInput;
      readonly described: VmReading;
      readonly reading: BackupReading;
      readonly time: string;
      readonly log: (text: string) => void;
    },
  ): Promise<void> {
    const variables = await this.firmwareVariables(input, { vm, reading, log });
    if (variables) await files.data(VARIABLES_PATH, variables);
    const folder = this.deps.folders.folderOf(input);
    const { firmwareVariables: _size, ...rest } = vm;
    const manifest = newManifest({
      ref: input.ref,
      uid: input.uid,
      time,
      consistency: reading.consistency,
      ...(folder !== undefined && { folder }),
      vm: {
        ...rest,
        ...(variables && { firmwareVariables: { sizeBytes: variables.length } }),
        disks: disksOf(vm, reading),
      },
      losses,
      hasFirmwareVariables: variables !== undefined,
    });
    await files.data(MANIFEST_PATH, formatManifest(manifest));
  }

  private async firmwareVariables(
    { ref: text, uid }: BackupInput,
    {
      vm: { firmwareVariables },
      reading,
      log,
    }: { readonly vm: PortableVm; readonly reading: BackupReading; readonly log: (text: string) => void },
  ): Promise<Buffer | undefined> {
    if (!firmwareVariables) return undefined;
    if ('problem' in firmwareVariables || reading.consistency !== 'stopped') {
      log('The variables of the firmware are not in the backup: they can be read of a VM that is stopped only.');
      return undefined;
    }
    const ref = parseRef(text);
    return findInstance(this.deps, { ...ref, uid }, 'diskSource').ability.readFirmwareVariables(ref);
  }
}

const resultOf = ({ id, consistency, sizeBytes }: Pick<BackupPoint, 'id' | 'consistency' | 'sizeBytes'>): BackedUp => ({
  point: id,
  consistency,
  sizeBytes,
});

async function storeDisks(
  { files, store }: { readonly files: SnapshotFiles; readonly store: BackupStore },
  reading: BackupReading,
  base: BackupPoint | undefined,
): Promise<void> {
  for (const { name, sizeBytes, changed, read, hasOnlyChanges } of reading.disks) {
    const path = diskPath(name);
    if (base === undefined || changed === 'all') {
      await files.disk(path, { sizeBytes, changed: 'all', read });
      continue;
    }
    const complete = hasOnlyChanges ? withParent({ changed, read }, await openParent(store, base, path)) : read;
    await files.disk(path, { sizeBytes, changed, read: complete, parent: { snapshot: base.id, path } });
  }
}

async function openParent(store: BackupStore, { id }: BackupPoint, path: string): Promise<StoredFile> {
  try {
    return await store.openFile(id, path);
  } catch (error) {
    throw new ParentUnreadable(error);
  }
}

const sizeOf = (disks: readonly { readonly sizeBytes: number }[]): number =>
  disks.reduce((sum, disk) => sum + disk.sizeBytes, 0);

/** The disks as they were read, which may have grown since they were described. */
function disksOf({ disks }: PortableVm, reading: BackupReading): PortableVm['disks'] {
  const sizes = new Map(reading.disks.map(({ name, sizeBytes }) => [name, sizeBytes]));
  const known = disks.filter(({ name }) => sizes.has(name));
  if (known.length !== sizes.size)
    throw new DomainError('CONFLICT', 'The disks of the VM were changed when the backup began: repeat it.');
  return known.map((disk) => ({ ...disk, sizeBytes: sizes.get(disk.name) ?? disk.sizeBytes }));
}

function openingLine({ consistency, wholeReason, disks }: BackupReading, base: BackupPoint | undefined): string {
  const state = { stopped: 'stopped', frozen: 'running, with frozen file systems', crash: 'running' }[consistency];
  const isIncrement = base !== undefined && disks.some(({ changed }) => changed !== 'all');
  if (isIncrement) return `The VM is ${state}. Only the changes since ${base.time} are read.`;
  return `The VM is ${state}. All of its disks are read. ${wholeReason ?? ''}`.trim();
}

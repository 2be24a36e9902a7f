import {
  DomainError,
  parseRef,
  type DiskRestore,
  type DiskRestoreMode,
  type DiskRestoreSpec,
  type DiskRestoreTarget,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { VARIABLES_PATH } from './backup-point.js';
import type { BackupStore } from './backup-store.js';
import { copyDisks } from './copy-disks.js';
import { findTarget } from './find-target.js';
import type { Manifest } from './manifest.js';
import type { RestoreTaskDeps } from './restore-task.js';
import { readManifest } from './restored-vm.js';

/** The journaled input. Without secrets. */
export interface RestoreDisksInput {
  /** A UUID that identifies the attempt. */
  readonly id: string;
  readonly target: string;
  readonly point: string;
  /** The ref of the VM, as text. */
  readonly ref: string;
  /** The backend's ID of the VM. */
  readonly uid: string;
  readonly mode: DiskRestoreMode;
  /** Names of disks of the point. */
  readonly disks: readonly string[];
  readonly copiesFirmwareVariables: boolean;
}

const MINUTE_MS = 60_000;
const LOOK = 'Look at the disks of the VM before you restore them again.';

/** What the backend needs to know about disks of a point. */
export const diskRestoreSpec = (
  { vm }: Manifest,
  { id, ref, uid, mode, disks, copiesFirmwareVariables }: Omit<RestoreDisksInput, 'target' | 'point'>,
): DiskRestoreSpec => ({
  id,
  ref: parseRef(ref),
  uid,
  mode,
  disks: vm.disks
    .filter(({ name }) => disks.includes(name))
    .map(({ name, sizeBytes, usedBytes = null }) => ({ name, sizeBytes, usedBytes })),
  ...(copiesFirmwareVariables &&
    vm.firmwareVariables &&
    'sizeBytes' in vm.firmwareVariables && { firmwareVariables: { sizeBytes: vm.firmwareVariables.sizeBytes } }),
});

/** Restores disks of a VM that exists. Until `commit`, the VM is as it was; the last step changes all disks at once. */
export class RestoreDisksTask implements TaskDefinition<RestoreDisksInput> {
  readonly kind = 'restore-disks';

  constructor(private readonly deps: RestoreTaskDeps) {}

  steps(): readonly StepDefinition<RestoreDisksInput>[] {
    const patience = (minutes: number, waitsFor: string) => ({
      stallMs: minutes * MINUTE_MS,
      waitsFor,
      ifStalled: LOOK,
    });
    return [
      {
        name: 'reserve',
        isCancelable: true,
        ...patience(15, 'the new disks to be created'),
        run: (context) => this.reserve(context),
      },
      {
        name: 'copy',
        isCancelable: true,
        weight: 20,
        ...patience(30, 'the copy of the disks'),
        run: (context) => this.copy(context),
      },
      { name: 'commit', ...patience(15, 'the VM to get the disks'), run: (context) => this.commit(context) },
    ];
  }

  async resume({ input, steps }: TaskJournal<RestoreDisksInput>, { log }: TaskContext): Promise<Resumption> {
    const { restore, target } = this.receiver(input);
    const state = await restore.state(target);
    const last = steps.at(-1);
    log(`The service was restarted at the step ${last?.name ?? 'reserve'}; the restore is ${state}.`);
    if (!last) return { action: 'continue' };
    if (state === 'committed') return last.name === 'commit' ? { action: 'finished' } : { action: 'continue' };
    if (last.name === 'reserve' && !last.isFinished) {
      // Disks may be missing.
      await restore.discard(target);
      return { action: 'continue' };
    }
    return state === 'absent'
      ? { action: 'rollback', reason: 'The VM or its new disks no longer exist.' }
      : { action: 'continue' };
  }

  async rollback({ input }: TaskJournal<RestoreDisksInput>, { log }: TaskContext): Promise<void> {
    const { restore, target } = this.receiver(input);
    if ((await restore.state(target)) === 'committed') return log('The VM has the restored disks and keeps them.');
    await restore.discard(target);
    log('The new disks were removed. The VM is as it was.');
  }

  result({ input, steps }: TaskJournal<RestoreDisksInput>): object {
    return { ref: input.ref, disks: input.disks, ...(steps.find(({ name }) => name === 'copy')?.result as object) };
  }

  private receiver({ id, ref: text, uid }: RestoreDisksInput): {
    readonly restore: DiskRestore;
    readonly target: DiskRestoreTarget;
  } {
    const ref = parseRef(text);
    return { restore: this.deps.backends.get(ref.context).require('diskRestore'), target: { id, ref, uid } };
  }

  private store({ target }: RestoreDisksInput): Promise<BackupStore> {
    return this.deps.stores.open(findTarget(this.deps.targets, target));
  }

  private async reserve({ input, log }: StepContext<RestoreDisksInput>): Promise<void> {
    const { restore, target } = this.receiver(input);
    await restore.begin(diskRestoreSpec(await readManifest(await this.store(input), input.point), input));
    log(`New disks for ${target.ref.name} are reserved.`);
  }

  private async copy(context: StepContext<RestoreDisksInput>): Promise<{ readonly writtenBytes: number }> {
    const { input } = context;
    const { restore, target } = this.receiver(input);
    const store = await this.store(input);
    const { disks } = diskRestoreSpec(await readManifest(store, input.point), input);
    const copied = await copyDisks(
      { store, point: input.point, disks },
      {
        write: (disk, signal) => restore.write(target, disk, signal),
        hashes: (disk, signal) => restore.hashes(target, disk, signal),
      },
      context,
    );
    if (input.copiesFirmwareVariables) {
      const variables = await store.openFile(input.point, VARIABLES_PATH);
      await restore.writeFirmwareVariables(target, await variables.read(0, variables.sizeBytes));
    }
    return copied;
  }

  private async commit({ input, log }: StepContext<RestoreDisksInput>): Promise<void> {
    const { restore, target } = this.receiver(input);
    const found = this.deps.directory.get(target.ref);
    if (found && found.uid !== input.uid)
      throw new DomainError('WRONG_STATE', `${target.ref.name} was created again meanwhile: nothing was restored.`);
    await restore.commit(target);
    log(`${target.ref.name} has the restored disks.`);
  }
}

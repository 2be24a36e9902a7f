import {
  DomainError,
  parseRef,
  type DiskRestore,
  type DiskRestoreMode,
  type DiskRestoreSpec,
  type DiskRestoreTarget,
  type StepContext,
} from '@headgate/domain-contracts';
import type { CopiedDisks } from './copy-disks.js';
import { FillTask, type FilledDisks, type FillInput } from './fill-task.js';
import type { Manifest } from './manifest.js';

/** The journaled input. Without secrets. */
export interface RestoreDisksInput extends FillInput {
  /** A UUID that identifies the attempt. */
  readonly id: string;
  /** The ref of the VM, as text. */
  readonly ref: string;
  /** The backend's ID of the VM. */
  readonly uid: string;
  readonly mode: DiskRestoreMode;
  /** Names of disks of the point. */
  readonly disks: readonly string[];
}

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
export class RestoreDisksTask extends FillTask<RestoreDisksInput> {
  override readonly kind = 'restore-disks';
  protected override readonly words = {
    reserving: 'the new disks to be created',
    committing: 'the VM to get the disks',
    ifStalled: 'Look at the disks of the VM before you restore them again.',
    state: 'the restore is',
    gone: 'The VM or its new disks no longer exist.',
    complete: 'The VM has the restored disks and keeps them.',
    removed: 'The new disks were removed. The VM is as it was.',
  };

  protected override filled(input: RestoreDisksInput): FilledDisks {
    const { restore, target } = this.receiver(input);
    return {
      state: () => restore.state(target),
      write: (disk, signal) => restore.write(target, disk, signal),
      hashes: (disk, signal) => restore.hashes(target, disk, signal),
      writeFirmwareVariables: (content) => restore.writeFirmwareVariables(target, content),
      discard: () => restore.discard(target),
    };
  }

  protected override disksOf(manifest: Manifest, input: RestoreDisksInput): CopiedDisks['disks'] {
    return diskRestoreSpec(manifest, input).disks;
  }

  protected override subjectOf({ ref, disks }: RestoreDisksInput): object {
    return { ref, disks };
  }

  protected override async begin({ input, log }: StepContext<RestoreDisksInput>, manifest: Manifest): Promise<void> {
    const { restore, target } = this.receiver(input);
    await restore.begin(diskRestoreSpec(manifest, input));
    log(`New disks for ${target.ref.name} are reserved.`);
  }

  protected override async commit({ input, log }: StepContext<RestoreDisksInput>): Promise<void> {
    const { restore, target } = this.receiver(input);
    const found = this.deps.directory.get(target.ref);
    if (found && found.uid !== input.uid)
      throw new DomainError('WRONG_STATE', `${target.ref.name} was created again meanwhile: nothing was restored.`);
    await restore.commit(target);
    log(`${target.ref.name} has the restored disks.`);
  }

  private receiver({ id, ref: text, uid }: RestoreDisksInput): {
    readonly restore: DiskRestore;
    readonly target: DiskRestoreTarget;
  } {
    const ref = parseRef(text);
    return { restore: this.deps.backends.get(ref.context).require('diskRestore'), target: { id, ref, uid } };
  }
}

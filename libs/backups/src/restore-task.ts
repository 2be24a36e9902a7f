import {
  parseRef,
  type DiskIngest,
  type IngestTarget,
  type ResourceMapping,
  type StepContext,
} from '@headgate/domain-contracts';
import type { CopiedDisks } from './copy-disks.js';
import { FillTask, type FilledDisks, type FillInput } from './fill-task.js';
import type { Manifest } from './manifest.js';
import { portableOf } from './restored-vm.js';

/** The journaled input. Without secrets. */
export interface RestoreInput extends FillInput {
  /** A UUID that identifies the new VM. */
  readonly id: string;
  /** The ref of the new VM, as text. */
  readonly destination: string;
  readonly mapping: ResourceMapping;
  readonly keepsMacs: boolean;
}

/** Builds a VM from a point, under a name that no VM has. Until `commit`, it can't be started. */
export class RestoreTask extends FillTask<RestoreInput> {
  override readonly kind = 'restore-backup';
  protected override readonly words = {
    reserving: 'the destination to reserve the disks',
    committing: 'the destination to complete the VM',
    ifStalled: 'Look for the VM before you restore it again.',
    state: 'the VM is',
    gone: 'The new VM no longer exists.',
    complete: 'The VM is complete and stays.',
    removed: 'The incomplete VM was removed.',
  };

  protected override filled(input: RestoreInput): FilledDisks {
    const { ingest, target } = this.receiver(input);
    return {
      state: () => ingest.state(target),
      write: (disk, signal) => ingest.write(target, disk, signal),
      hashes: (disk, signal) => ingest.hashes(target, disk, signal),
      writeFirmwareVariables: (content) => ingest.writeFirmwareVariables(target, content),
      discard: () => ingest.discard(target),
    };
  }

  protected override disksOf({ vm }: Manifest): CopiedDisks['disks'] {
    return vm.disks;
  }

  protected override subjectOf({ destination }: RestoreInput): object {
    return { destination };
  }

  protected override async begin({ input, log }: StepContext<RestoreInput>, manifest: Manifest): Promise<void> {
    const { ingest, target } = this.receiver(input);
    const losses = await ingest.begin({ ...target, vm: portableOf(manifest, input), mapping: input.mapping });
    for (const { what } of losses) log(`The VM is without this: ${what}`);
    log(`${target.ref.name} is reserved in ${target.ref.context}.`);
  }

  protected override async commit({ input, log }: StepContext<RestoreInput>): Promise<void> {
    const { ingest, target } = this.receiver(input);
    await ingest.commit(target);
    await this.deps.directory.waitFor(target.ref, (found) => found !== undefined);
    log(`${target.ref.name} is complete in ${target.ref.context}. It is stopped.`);
  }

  private receiver({ id, destination }: RestoreInput): { readonly ingest: DiskIngest; readonly target: IngestTarget } {
    const ref = parseRef(destination);
    return { ingest: this.deps.backends.get(ref.context).require('diskIngest'), target: { id, ref } };
  }
}

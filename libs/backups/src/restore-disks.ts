import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  DomainError,
  formatRef,
  throwFirstRefusal,
  UnavailableAbility,
  REHEARSAL_ID,
  type Audit,
  type Backend,
  type BackupTarget,
  type Caller,
  type DefinedTask,
  type DiskRestoreMode,
  type Instance,
  type InstanceRef,
  type Plan,
  type Refusal,
  type Reservations,
  type Work,
  workOn,
} from '@headgate/domain-contracts';
import { findPoint, findTarget } from './find-target.js';
import type { Manifest } from './manifest.js';
import { diskRestoreSpec, type RestoreDisksInput } from './restore-disks-task.js';
import type { RestoreTaskDeps } from './fill-task.js';
import { readManifest } from './restored-vm.js';

export interface RestoreDisksDeps extends RestoreTaskDeps {
  readonly task: DefinedTask<RestoreDisksInput>;
  readonly reservations: Reservations;
  readonly audit: Audit;
}

export interface RestoreDisksRequest {
  readonly target: string;
  readonly point: string;
  /** The VM that gets the disks: in the mode `replace`, the one of the backup. */
  readonly ref: InstanceRef;
  readonly mode: DiskRestoreMode;
  /** Names of disks of the backup; all of them if absent. */
  readonly disks?: readonly string[];
}

interface Prepared {
  readonly request: RestoreDisksRequest;
  readonly target: BackupTarget;
  readonly manifest: Manifest;
  readonly backend: Backend;
  readonly vm: Instance;
  readonly disks: readonly string[];
  readonly work: Work;
}

/** Restores disks of a point in a VM that exists, as a task. @returns the ID of the task */
export class RestoreDisks extends Change<[request: RestoreDisksRequest], string, Prepared> {
  constructor(private readonly deps: RestoreDisksDeps) {
    super();
  }

  protected override async prepare(request: RestoreDisksRequest): Promise<Prepared> {
    const { targets, stores, backends, directory } = this.deps;
    const { ref, mode } = request;
    const backend = backends.get(ref.context);
    const target = findTarget(targets, request.target);
    const store = await stores.open(target);
    await findPoint(store, request.point);
    const manifest = await readManifest(store, request.point);
    const present = manifest.vm.disks.map(({ name }) => name);
    const disks = request.disks ?? present;
    const unknown = disks.find((disk) => !present.includes(disk));
    if (unknown !== undefined)
      throw new DomainError('DEVICE_NOT_FOUND', `The backup has no disk ${unknown}. It has ${present.join(', ')}.`);
    if (new Set(disks).size !== disks.length || disks.length === 0)
      throw new DomainError('INVALID_INPUT', 'disks: name each disk once.');
    const vm = directory.get(ref);
    if (!vm) throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
    const work = workOn(mode === 'replace' ? 'replace-disks' : 'add-disks', ref);
    return { request, target, manifest, backend, vm, disks, work };
  }

  protected override planPrepared(prepared: Prepared): Promise<Plan> {
    return this.deps.reservations.plan(prepared.work, async () => (await this.look(prepared)).plan);
  }

  protected override runPrepared(prepared: Prepared, caller: Caller): Promise<string> {
    const { request, target, manifest, vm, disks, work } = prepared;
    const { reservations, audit, task } = this.deps;
    const { ref, mode, point } = request;
    return reservations.during(work, (reservation) =>
      audit.of(
        caller,
        mode === 'replace' ? 'replace disks' : 'add disks',
        ref,
        async () => {
          const { plan, copiesFirmwareVariables } = await this.look(prepared);
          throwFirstRefusal(plan);
          const input: RestoreDisksInput = {
            id: randomUUID(),
            target: target.id,
            point,
            ref: formatRef(ref),
            uid: vm.uid,
            mode,
            disks,
            copiesFirmwareVariables,
          };
          return task.start({ name: ref.name, ref: input.ref, input, reservation }, caller);
        },
        () => `${disks.join(', ')} of the backup of ${manifest.ref} of ${manifest.time}`,
      ),
    );
  }

  private async look({ request, manifest, backend, vm, disks }: Prepared): Promise<{
    readonly plan: Plan;
    readonly copiesFirmwareVariables: boolean;
  }> {
    const { ref, mode } = request;
    const restore = backend.abilityFor('vm', 'diskRestore');
    if (restore instanceof UnavailableAbility) throw new DomainError('NOT_SUPPORTED', restore.reason);
    const isReplacement = mode === 'replace';
    // The variables belong to the disks as a whole.
    const isWhole = isReplacement && disks.length === manifest.vm.disks.length;
    const wantsVariables = isWhole && manifest.hasFirmwareVariables;
    const wanted = {
      id: REHEARSAL_ID,
      ref: formatRef(ref),
      uid: vm.uid,
      mode,
      disks,
      copiesFirmwareVariables: wantsVariables,
    };
    const planned = await restore.plan(diskRestoreSpec(manifest, wanted));
    const copiesFirmwareVariables = wantsVariables && planned.firmwareVariables === true;
    const refusals: Refusal[] = [];
    if (isReplacement && (manifest.uid !== vm.uid || manifest.ref !== formatRef(ref)))
      refusals.push({
        code: 'WRONG_STATE',
        reason: `The backup is of another VM than ${ref.name}, also if that has the same name.`,
        remedy: 'Restore it as a new VM, or as additional disks.',
      });
    const missing = manifest.vm.disks.map(({ name }) => name).filter((name) => !disks.includes(name));
    const warnings = [
      ...planned.warnings,
      ...(isReplacement
        ? [`The hardware of ${ref.name}, its name and its tags stay as they are now.`]
        : ['The new disks have the IDs of file systems and partitions of the original: a guest may confuse them.']),
      ...(isReplacement && missing.length > 0
        ? [`${missing.join(', ')} of the backup are not restored, so the disks may not fit together.`]
        : []),
      ...(wantsVariables && !copiesFirmwareVariables
        ? [`The variables of the firmware stay as they are. ${String(planned.firmwareVariables)}`]
        : []),
      ...(isReplacement && manifest.vm.tpm ? ['The state of the TPM is in no backup, and stays as it is.'] : []),
    ];
    return {
      plan: buildPlan([...planned.steps], { refusals: [...refusals, ...planned.refusals], warnings }),
      copiesFirmwareVariables,
    };
  }
}

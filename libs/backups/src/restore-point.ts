import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  DomainError,
  formatBytes,
  formatRef,
  parseRef,
  throwFirstRefusal,
  UnavailableAbility,
  REHEARSAL_ID,
  type Audit,
  type Backend,
  type BackupTarget,
  type Caller,
  type DefinedTask,
  type InstanceRef,
  type Plan,
  type Refusal,
  type Reservations,
  type ResourceMapping,
  type Work,
  workOn,
} from '@headgate/domain-contracts';
import { findPoint, findTarget } from './find-target.js';
import type { Manifest } from './manifest.js';
import type { RestoreTaskDeps } from './fill-task.js';
import type { InstantRestoreInput } from './instant-restore-task.js';
import type { RestoreInput } from './restore-task.js';
import { portableOf, readManifest } from './restored-vm.js';

export interface RestorePointDeps extends RestoreTaskDeps {
  readonly task: DefinedTask<RestoreInput>;
  readonly instantTask: DefinedTask<InstantRestoreInput>;
  readonly reservations: Reservations;
  readonly audit: Audit;
}

export interface RestoreRequest {
  readonly target: string;
  readonly point: string;
  /** The new VM. */
  readonly destination: InstanceRef;
  readonly mapping: ResourceMapping;
  /** Whether the network cards keep their addresses. */
  readonly keepMacs: boolean;
  /** Whether the VM starts before its disks are copied. */
  readonly instant: boolean;
}

interface Prepared {
  readonly request: RestoreRequest;
  readonly target: BackupTarget;
  readonly manifest: Manifest;
  readonly backend: Backend;
  readonly work: Work;
}

/** Restores a point as a new VM, as a task. @returns the ID of the task */
export class RestorePoint extends Change<[request: RestoreRequest], string, Prepared> {
  constructor(private readonly deps: RestorePointDeps) {
    super();
  }

  protected override async prepare(request: RestoreRequest): Promise<Prepared> {
    const { targets, stores, backends } = this.deps;
    const backend = backends.get(request.destination.context);
    const target = findTarget(targets, request.target);
    const store = await stores.open(target);
    await findPoint(store, request.point);
    const manifest = await readManifest(store, request.point);
    return {
      request,
      target,
      manifest,
      backend,
      work: workOn(request.instant ? 'instant-restore' : 'restore-backup', request.destination),
    };
  }

  protected override planPrepared(prepared: Prepared): Promise<Plan> {
    return this.deps.reservations.plan(prepared.work, async () => (await this.look(prepared)).plan);
  }

  protected override runPrepared(prepared: Prepared, caller: Caller): Promise<string> {
    const { request, target, manifest, work } = prepared;
    const { reservations, audit } = this.deps;
    const { destination, point, mapping, keepMacs, instant } = request;
    return reservations.during(work, (reservation) =>
      audit.of(
        caller,
        'restore backup',
        destination,
        async () => {
          const { plan, copiesFirmwareVariables } = await this.look(prepared);
          throwFirstRefusal(plan);
          const input: RestoreInput = {
            id: randomUUID(),
            target: target.id,
            point,
            destination: formatRef(destination),
            mapping,
            keepsMacs: keepMacs,
            copiesFirmwareVariables,
          };
          const task = instant ? this.deps.instantTask : this.deps.task;
          return task.start({ name: destination.name, ref: input.destination, input, reservation }, caller);
        },
        () => `the backup of ${manifest.ref} of ${manifest.time}`,
      ),
    );
  }

  private async look({ request, target, manifest, backend }: Prepared): Promise<{
    readonly plan: Plan;
    readonly copiesFirmwareVariables: boolean;
  }> {
    const { destination: ref, mapping, keepMacs, instant } = request;
    const refusals: Refusal[] = [];
    if (this.deps.directory.get(ref))
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: `${ref.context} has a VM ${ref.name} already, and a restore replaces none.`,
        remedy: 'Choose another name.',
      });
    const ingest = backend.abilityFor('vm', 'diskIngest');
    if (ingest instanceof UnavailableAbility) throw new DomainError('NOT_SUPPORTED', ingest.reason);
    await ingest.check();
    const vm = portableOf(manifest, { keepsMacs: keepMacs, copiesFirmwareVariables: manifest.hasFirmwareVariables });
    const planned = await ingest.plan({ id: REHEARSAL_ID, ref, vm, mapping });
    const copiesFirmwareVariables = manifest.hasFirmwareVariables && planned.firmwareVariables === true;
    const start = instant ? await this.lookAtStart(backend, ref) : undefined;
    const known = new Set(refusals.map(({ code }) => code));
    const copy = start ? start.steps : [{ name: 'copy', detail: 'Write the disks, and read them back.' }];
    const plan = buildPlan([...planned.steps, ...copy], {
      refusals: [
        ...refusals,
        ...[...planned.refusals, ...(start?.refusals ?? [])].filter(({ code }) => !known.has(code)),
      ],
      warnings: [
        ...planned.warnings,
        ...(start ? [...start.warnings, ...this.instantWarnings(manifest, target, ref)] : []),
        ...[...manifest.losses, ...planned.losses].map(({ what }) => `The VM is without this: ${what}`),
        ...(manifest.hasFirmwareVariables && !copiesFirmwareVariables
          ? [`The VM is without the variables of its firmware. ${String(planned.firmwareVariables)}`]
          : []),
        ...(vm.firmware !== 'bios' && !manifest.hasFirmwareVariables
          ? ['The backup has no variables of the firmware, so the VM starts with new ones.']
          : []),
        ...(manifest.vm.tpm ? ['The state of the TPM is in no backup.'] : []),
        ...(keepMacs ? ['The network cards have the addresses of the original: do not run both on one network.'] : []),
      ],
    });
    return { plan, copiesFirmwareVariables };
  }

  private async lookAtStart(backend: Backend, ref: InstanceRef): Promise<Plan> {
    const ability = backend.abilityFor('vm', 'instantRestore');
    if (ability instanceof UnavailableAbility) throw new DomainError('NOT_SUPPORTED', ability.reason);
    return ability.plan(ref);
  }

  private instantWarnings({ ref: original, vm }: Manifest, target: BackupTarget, { name }: InstanceRef): string[] {
    const bytes = vm.disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const found = this.deps.directory.get(parseRef(original));
    return [
      `Until ${formatBytes(bytes)} are copied, ${name} reads from ${target.name}, which is slow, and is paused while that can't be read.`,
      `Until then, ${name} can be stopped, started and deleted, but not be backed up, moved or changed, and the copy is not read back.`,
      ...(found && 'status' in found && found.status !== 'Stopped'
        ? [`${original} is ${found.status}: both have the same host name, keys and accounts.`]
        : []),
    ];
  }
}

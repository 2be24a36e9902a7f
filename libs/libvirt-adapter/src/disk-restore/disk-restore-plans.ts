import { basename, dirname } from 'node:path';
import {
  buildPlan,
  formatBytes,
  type DiskRestorePlan,
  type DiskRestoreSpec,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { VolumeRole } from '../domain-xml/instance-metadata.js';
import type { DomainEditor, EditableDomain } from '../domains/domain-editor.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { readDomainHardware } from '../hardware/domain-hardware.js';
import { plugRefusal } from '../hardware/hotplug.js';
import { newPlace } from '../hardware/volumes/new-disk.js';
import { variablesTemplate } from '../host/firmware-descriptions.js';
import { foreignSessionRefusal, type Users } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import { findCopyableDisks, type FoundDisks } from '../moves/copyable-disks.js';
import { describePlatform } from '../moves/describe-portable.js';
import { variablesFile, variablesMismatch } from '../moves/firmware-variables.js';
import type { DiskUsage } from '../storage/disk-usage.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { variablesOf, volumeOf } from './restored-volumes.js';

export interface DiskRestorePlanDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly editor: DomainEditor;
  readonly pool: StoragePool;
  readonly holds: DiskHolds;
  readonly readUsage: () => Promise<DiskUsage>;
  readonly users?: Users;
}

/** A new volume, and the disk that gets it. */
export interface PlannedDisk {
  /** Of the disk in the backup. */
  readonly name: string;
  readonly volume: string;
  readonly format: 'qcow2' | 'raw';
  readonly sizeBytes: number;
  readonly role: VolumeRole;
  /** The volume that it replaces; absent for an additional disk. */
  readonly replaced?: string;
}

/** A plan, with the facts that were gathered for it. */
export interface PreparedRestore {
  readonly plan: DiskRestorePlan;
  readonly disks: readonly PlannedDisk[];
  /** The new volume of the firmware's variables, and the one that it replaces. */
  readonly variables?: { readonly volume: string; readonly replaced: string };
}

const WHOLE_BACKUP =
  'The next backup of the VM reads all of its disks, because the new content has no record of changes.';

/** The checks before disks are restored. They change nothing. */
export class DiskRestorePlans {
  constructor(private readonly deps: DiskRestorePlanDeps) {}

  async prepare(spec: DiskRestoreSpec): Promise<PreparedRestore> {
    const { ref, mode, disks } = spec;
    const { finder, editor, pool } = this.deps;
    const { uuid } = await finder.find(ref);
    const domain = await editor.read(uuid);
    const refusals = await this.stateRefusals(spec, domain);
    const isReplacement = mode === 'replace';
    const planned = isReplacement ? await this.replacements(spec, domain, refusals) : added(spec);
    const place = isReplacement || refusals.length > 0 ? undefined : await this.place(spec, refusals);
    const fromNow = isReplacement ? `, besides those that ${ref.name} has now` : '';
    await this.checkSpace(disks, refusals);
    const verdict = isReplacement ? await this.variables(spec, domain) : NO_VARIABLES;
    const hasVariables = spec.firmwareVariables !== undefined && typeof verdict !== 'string';
    const steps: PlanStep[] = [
      ...planned.map(({ volume, sizeBytes }) => ({
        name: 'volume',
        detail: `Create the volume ${pool.name}/${volume} of ${formatBytes(sizeBytes)}${fromNow}.`,
      })),
      { name: 'copy', detail: 'Write the disks of the backup, and read them back.' },
      isReplacement
        ? { name: 'switch', detail: `Let ${ref.name} use the new volumes, in one step.` }
        : {
            name: 'attach',
            detail: `Attach the new disk${disks.length === 1 ? '' : 's'} to ${ref.name}${place?.effect === 'now' ? ', immediately' : ''}.`,
          },
      ...(isReplacement
        ? [{ name: 'remove', detail: `Remove the volumes ${planned.map(({ replaced }) => replaced).join(', ')}.` }]
        : []),
    ];
    const warnings = [
      ...planned.flatMap(({ name, replaced }) =>
        replaced === undefined
          ? []
          : [`The present content of ${name} of ${ref.name} is lost: its volume ${replaced} is removed.`],
      ),
      ...(place?.warnings ?? []),
      ...(isReplacement ? await this.sizeWarnings(planned) : []),
      ...(isReplacement ? othersOf(spec, domain) : []),
      ...(domain.isPersistent ? [WHOLE_BACKUP] : []),
    ];
    return {
      plan: {
        ...buildPlan(steps, { refusals, warnings }),
        firmwareVariables: typeof verdict === 'string' ? verdict : true,
      },
      disks: planned,
      ...(hasVariables && { variables: { volume: variablesOf(spec, ref.name), replaced: verdict.replaced } }),
    };
  }

  private async stateRefusals({ ref, uid, mode }: DiskRestoreSpec, domain: EditableDomain): Promise<Refusal[]> {
    const { connection, holds, users } = this.deps;
    const { description, isActive, isPersistent } = domain;
    const { uuid, metadata, unreadable } = description;
    const refusals: Refusal[] = [];
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    const foreign = await foreignSessionRefusal(connection.uri, users);
    if (foreign) refusals.push(foreign);
    if (isRemote(connection.uri))
      refuse('NOT_SUPPORTED', 'Disks of another machine are not written.', 'Run the service on that machine.');
    if (uuid !== uid)
      refuse('WRONG_STATE', `${ref.name} is another VM than before: it was created again.`, 'Restore it as a new VM.');
    if (unreadable !== undefined)
      refuse('WRONG_STATE', `${ref.name}: ${unreadable}`, 'Correct its metadata with virsh.');
    if (!isPersistent) refuse('NOT_SUPPORTED', `${ref.name} is a transient domain.`, 'Define it in libvirt first.');
    if (metadata.provisioning !== undefined)
      refuse('BUSY', `${ref.name} is still being created.`, 'Wait until its disk is ready.');
    if (metadata.pending !== undefined || holds.has(uuid)) refusals.push(busyRefusal(ref.name));
    if (mode === 'add') return refusals;
    if (isActive) refuse('WRONG_STATE', `${ref.name} is not stopped.`, 'Stop it first.');
    if (metadata.snapshots.length > 0)
      refuse('WRONG_STATE', `${ref.name} has snapshots of its disks.`, 'Delete its snapshots first.');
    return refusals;
  }

  /** Only volumes that the service has created for the VM, and that no other VM needs. */
  private async replacements(
    spec: DiskRestoreSpec,
    { description }: EditableDomain,
    refusals: Refusal[],
  ): Promise<PlannedDisk[]> {
    const { pool, readUsage } = this.deps;
    const { uuid, metadata } = description;
    const [folder, usage] = [await pool.futurePath(), await readUsage()];
    const found = findCopyableDisks(description);
    const planned: PlannedDisk[] = [];
    for (const { name, sizeBytes } of spec.disks) {
      const disk = found.disks.find(({ target }) => target === name);
      if (!disk) {
        refusals.push(missingRefusal(spec, name, description.disks.some(({ target }) => target === name) && found));
        continue;
      }
      const volume = metadata.volumes.find(
        (one) => one.pool === pool.name && one.name === basename(disk.path) && dirname(disk.path) === folder,
      );
      if (metadata.owner !== uuid || !volume || (disk.format !== 'qcow2' && disk.format !== 'raw')) {
        refusals.push({
          code: 'NOT_SUPPORTED',
          reason: `The disk ${name} of ${spec.ref.name} was not created by this service for this VM.`,
          remedy: 'Restore it as an additional disk, or as a new VM.',
        });
        continue;
      }
      if (usage.isUsedByOthers(disk.path, uuid))
        refusals.push({
          code: 'BUSY',
          reason: `The disk ${name} of ${spec.ref.name} is also used by another VM.`,
          remedy: 'Detach it from the other VM, or delete the clone that is based on it.',
        });
      const { format } = disk;
      planned.push({
        name,
        sizeBytes,
        format,
        volume: volumeOf(spec, spec.ref.name, name, format),
        role: volume.role,
        replaced: volume.name,
      });
    }
    return planned;
  }

  /** Where the first of the new disks goes. */
  private async place(
    { ref, uid }: DiskRestoreSpec,
    refusals: Refusal[],
  ): Promise<ReturnType<typeof newPlace> | undefined> {
    const { connection, pool } = this.deps;
    const hardware = await readDomainHardware(connection, { uuid: uid, name: ref.name }, pool.name);
    if (!hardware) return undefined;
    const refusal = plugRefusal(hardware, { kind: 'attach-volume', disk: { sizeBytes: 0 } });
    if (refusal) refusals.push(refusal);
    return newPlace(hardware);
  }

  /** Both contents exist until the end. */
  private async checkSpace(disks: DiskRestoreSpec['disks'], refusals: Refusal[]): Promise<void> {
    const { pool } = this.deps;
    const space = await pool.space();
    if (!space?.isActive) return;
    const neededBytes = disks.reduce((sum, { usedBytes, sizeBytes }) => sum + (usedBytes ?? sizeBytes), 0);
    if (space.availableBytes >= neededBytes + SPACE_WATERMARK_BYTES) return;
    refusals.push({
      code: 'INSUFFICIENT_STORAGE',
      reason: `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free, and the disks have up to ${formatBytes(neededBytes)} of data.`,
      remedy: `Free some space on the machine: ${formatBytes(SPACE_WATERMARK_BYTES)} must remain free.`,
    });
  }

  private async sizeWarnings(planned: readonly PlannedDisk[]): Promise<string[]> {
    const warnings: string[] = [];
    for (const { name, sizeBytes, replaced } of planned) {
      const present = await this.deps.pool.describe(replaced ?? '').catch(() => undefined);
      if (present && present.bytes !== sizeBytes)
        warnings.push(
          `${name} has ${formatBytes(present.bytes)} now, and gets the ${formatBytes(sizeBytes)} of the backup.`,
        );
    }
    return warnings;
  }

  /** The volume with the variables, or why they can't be replaced. */
  private async variables(
    { ref, firmwareVariables }: DiskRestoreSpec,
    { description }: EditableDomain,
  ): Promise<string | { readonly replaced: string }> {
    const { pool } = this.deps;
    const { document, arch, metadata, uuid } = description;
    const { firmware } = describePlatform(description);
    const file = firmware === 'bios' ? undefined : variablesFile(document);
    if (!file) return `The firmware of ${ref.name} has no variables.`;
    const replaced = basename(file.path);
    const isOwn =
      metadata.owner === uuid &&
      dirname(file.path) === (await pool.futurePath()) &&
      metadata.volumes.some(({ name, role }) => name === replaced && role === 'nvram');
    if (!isOwn || file.format !== 'raw') return 'Their file was not created by this service for this VM.';
    const template = await variablesTemplate({ arch, isSecure: firmware === 'uefi-secure' });
    return (await variablesMismatch(firmwareVariables?.sizeBytes ?? 0, template)) ?? { replaced };
  }
}

const NO_VARIABLES = 'An additional disk has no variables.';

const added = (spec: DiskRestoreSpec): PlannedDisk[] =>
  spec.disks.map(({ name, sizeBytes }) => ({
    name,
    sizeBytes,
    format: 'qcow2',
    volume: volumeOf(spec, spec.ref.name, name, 'qcow2'),
    role: 'data',
  }));

/** @param found the disks of the VM, if it has one of this name; false if it has none */
const missingRefusal = ({ ref }: DiskRestoreSpec, name: string, found: FoundDisks | false): Refusal =>
  found === false
    ? {
        code: 'DEVICE_NOT_FOUND',
        reason: `${ref.name} no longer has the disk ${name}.`,
        remedy: 'Restore it as an additional disk.',
      }
    : (found.refusals.find(({ reason }) => reason.startsWith(`The disk ${name} of `)) ?? {
        code: 'NOT_SUPPORTED',
        reason: `The disk ${name} of ${ref.name} can't be written to.`,
        remedy: 'Restore it as an additional disk.',
      });

function othersOf({ ref, disks }: DiskRestoreSpec, { description }: EditableDomain): string[] {
  const restored = new Set(disks.map(({ name }) => name));
  return findCopyableDisks(description)
    .disks.filter(({ target }) => !restored.has(target))
    .map(({ target }) => `The disk ${target} of ${ref.name} stays as it is, also if the restored disks need it.`);
}

import { basename, dirname } from 'node:path';
import type { Refusal } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DiskVolume } from '../domain-xml/snapshot-metadata.js';
import { attribute, element, elements, text } from '../xml/xml.js';
import type { EditableDomain } from '../domains/domain-editor.js';

/**
 * The writable disks of a domain, all of them volumes that the service created for it, and the state outside the disks.
 */
export interface SnapshotDisks {
  readonly disks: readonly DiskVolume[];
  /** Targets of the discs and of the other disks that the guest can't write to. */
  readonly others: readonly string[];
  /** The volume with the variables of the firmware. */
  readonly nvram?: string;
  readonly hasTpm: boolean;
}

export interface FoundDisks extends SnapshotDisks {
  /** Why the disks can't be snapshotted or cloned. */
  readonly refusals: readonly Refusal[];
}

/**
 * Finds the disks of a domain. A disk that the service did not create is refused: the VM that is deleted keeps such a
 * disk, which would lack everything that was written after the snapshot.
 * @param folder of the service's pool
 */
export function findDisks({ description, isPersistent }: EditableDomain, folder: string): FoundDisks {
  const { name, uuid, metadata, unreadable, document } = description;
  const refusals: Refusal[] = [];
  const owned = new Set(metadata.owner === uuid ? metadata.volumes.map((volume) => volume.name) : []);
  const readonly = readonlyTargets(description);
  const disks: DiskVolume[] = [];
  if (unreadable !== undefined)
    refusals.push(refuse('WRONG_STATE', `${name}: ${unreadable}`, 'Correct its metadata with virsh.'));
  if (!isPersistent)
    refusals.push(refuse('NOT_SUPPORTED', `${name} is a transient domain.`, 'Define it in libvirt first.'));
  for (const { target, device, path, pool } of description.disks) {
    if (device !== 'disk' || readonly.has(target)) continue;
    if (path !== undefined && pool === undefined && dirname(path) === folder && owned.has(basename(path)))
      disks.push({ target, name: basename(path) });
    else
      refusals.push(
        refuse(
          'NOT_SUPPORTED',
          metadata.owner === uuid && metadata.volumes.some((volume) => volume.name === basename(path ?? ''))
            ? `The disk ${target} of ${name} is not in the storage pool of this service.`
            : `The disk ${target} of ${name} was not created by this service for this VM.`,
          'Move it to that pool, or use the tools with which it was created.',
        ),
      );
  }
  if (disks.length === 0 && refusals.length === 0)
    refusals.push(refuse('NOT_SUPPORTED', `${name} has no disk.`, 'Add a disk first.'));
  const nvram = text(element(document, 'os'), 'nvram');
  const targets = new Set(disks.map(({ target }) => target));
  return {
    disks,
    others: description.disks.map(({ target }) => target).filter((target) => !targets.has(target)),
    ...(nvram !== undefined && { nvram: basename(nvram) }),
    hasTpm: elements(element(document, 'devices'), 'tpm').some(
      (tpm) => attribute(element(tpm, 'backend'), 'type') === 'emulator',
    ),
    refusals,
  };
}

const refuse = (code: Refusal['code'], reason: string, remedy: string): Refusal => ({ code, reason, remedy });

const readonlyTargets = ({ document }: DomainDescription): Set<string> =>
  new Set(
    elements(element(document, 'devices'), 'disk')
      .filter((disk) => 'readonly' in disk)
      .map((disk) => attribute(element(disk, 'target'), 'dev') ?? ''),
  );

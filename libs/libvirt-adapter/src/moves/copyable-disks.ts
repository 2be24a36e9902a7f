import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { DISK_BUSES, loss, type DiskBus, type Loss, type Refusal } from '@headgate/domain-contracts';
import { bootDisk, type DiskDescription, type DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, type XmlElement } from '../xml/xml.js';

/** A disk of a domain whose content can be read from here. */
export interface CopyableDisk {
  readonly target: string;
  readonly path: string;
  /** As libvirt has it. Never probed: the guest writes the content of its disk. */
  readonly format: string;
  readonly bus: DiskBus;
}

export interface FoundDisks {
  /** The first is the boot disk. */
  readonly disks: readonly CopyableDisk[];
  readonly refusals: readonly Refusal[];
  readonly losses: readonly Loss[];
}

/** Finds the disks that make up the VM. Discs, and the cloud-init seed of the service, are not among them. */
export function findCopyableDisks(description: DomainDescription): FoundDisks {
  const { name, document, metadata } = description;
  const refusals: Refusal[] = [];
  const losses: Loss[] = [];
  const disks: CopyableDisk[] = [];
  const refuse = (reason: string, remedy: string): void =>
    void refusals.push({ code: 'NOT_SUPPORTED', reason, remedy });
  const seeds = new Set(metadata.volumes.filter(({ role }) => role === 'seed').map((volume) => volume.name));
  const xml = new Map(
    elements(element(document, 'devices'), 'disk').map((disk) => [
      attribute(element(disk, 'target'), 'dev') ?? '',
      disk,
    ]),
  );
  for (const disk of bootDiskFirst(description)) {
    const { target, device, path } = disk;
    const document = xml.get(target) ?? {};
    if (device === 'cdrom' || device === 'floppy') {
      if (path !== undefined && !seeds.has(basename(path)))
        losses.push(loss('media', `The drive ${target} with its medium.`));
      continue;
    }
    if (path !== undefined && 'readonly' in document) {
      if (!seeds.has(basename(path))) losses.push(loss('media', `The read-only disk ${target}.`));
      continue;
    }
    const problem = problemOf(disk, document);
    if (problem === undefined && path !== undefined) disks.push({ target, path, ...formatAndBus(document) });
    else refuse(`The disk ${target} of ${name} ${problem}.`, 'Detach it, or copy it with other tools.');
  }
  if (disks.length === 0 && refusals.length === 0)
    refuse(`${name} has no disk.`, 'Add a disk, or create the VM again.');
  return { disks, refusals, losses };
}

function bootDiskFirst(description: DomainDescription): DiskDescription[] {
  const first = bootDisk(description);
  return [...description.disks].sort((a, b) => Number(b === first) - Number(a === first));
}

/** Completes the sentence "The disk … …". */
function problemOf({ device, path }: DiskDescription, document: XmlElement): string | undefined {
  if (device === 'lun') return 'is a device of the machine that is passed through';
  if ('shareable' in document) return 'is shared with other VMs';
  if ('encryption' in document || 'encryption' in (element(document, 'source') ?? {})) return 'is encrypted by QEMU';
  if ('transient' in document) return 'is discarded when the VM stops';
  return path === undefined ? 'is neither a file nor a block device of this machine' : undefined;
}

function formatAndBus(document: XmlElement): { format: string; bus: DiskBus } {
  const bus = attribute(element(document, 'target'), 'bus') ?? 'virtio';
  return {
    format: attribute(element(document, 'driver'), 'type') ?? 'raw',
    // Guests that support IDE or USB disks support SATA.
    bus: DISK_BUSES.find((known) => known === bus) ?? 'sata',
  };
}

/** Why this process can't read a disk; undefined when it can. */
export async function readingRefusal({ path }: CopyableDisk): Promise<Refusal | undefined> {
  try {
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? {
          code: 'VOLUME_NOT_FOUND',
          reason: `The disk ${path} is missing.`,
          remedy: 'Restore it, or delete the VM.',
        }
      : {
          code: 'BACKEND_FORBIDDEN',
          reason: `This service may not read the disk ${path}.`,
          remedy: 'Run it as root, or grant its user access to the file.',
        };
  }
}

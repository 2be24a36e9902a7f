import type { VmSpec } from '@headgate/domain-contracts';
import type { DiskSpec } from '../domain-xml/domain-spec.js';
import type { OwnedVolume, VolumeRole } from '../domain-xml/instance-metadata.js';
import type { CreationPlan } from './creation-plan.js';

/** The files of one domain: their paths, and the volumes that it owns. */
export interface DomainFiles {
  readonly names: Readonly<Record<'disk' | 'seed' | 'cdrom', string>>;
  readonly disk: DiskSpec;
  /** Path of the overlay of the installation ISO. */
  readonly installer?: string;
  /** Path of the ISO with the cloud-init data. */
  readonly seed?: string;
  /** Path of the variables of the UEFI firmware, which libvirt creates at the first start. */
  readonly nvram?: string;
  readonly serial: { readonly socket: string; readonly log: string };
  readonly volumes: readonly OwnedVolume[];
}

interface NewDomain {
  readonly spec: VmSpec;
  readonly uuid: string;
  readonly pool: string;
  readonly folder: string;
  /** The folder of the pool of the boot disk. */
  readonly diskFolder: string;
  readonly plan: CreationPlan;
}

/**
 * Names begin with the VM's name for readability and contain part of its UUID, so that they never collide with existing
 * files.
 */
export function nameVolumes({ spec, uuid, pool, folder, diskFolder, plan }: NewDomain): DomainFiles {
  const base = `${spec.ref.name}-${uuid.slice(0, 8)}`;
  const names = {
    disk: `${base}.qcow2`,
    seed: `${base}-seed.iso`,
    cdrom: `${base}-cdrom.qcow2`,
    log: `${base}-serial.log`,
    nvram: `${base}-nvram.fd`,
  };
  const path = (name: string): string => `${folder}/${name}`;
  const own = (name: string, role: VolumeRole): OwnedVolume => ({ pool, name, role });
  const hasNvram = plan.platform.firmware !== 'bios';
  const isInstallation = spec.source.kind === 'iso';
  return {
    names,
    disk: plan.claim
      ? { path: plan.claim.path, format: plan.claim.format }
      : { path: `${diskFolder}/${names.disk}`, format: 'qcow2' },
    installer: isInstallation ? path(names.cdrom) : undefined,
    seed: plan.hasSeed ? path(names.seed) : undefined,
    nvram: hasNvram ? path(names.nvram) : undefined,
    // Short, because a socket path is limited to 107 characters.
    serial: { socket: path(`${uuid}.serial`), log: path(names.log) },
    volumes: [
      ...(plan.claim ? [] : [{ ...own(names.disk, 'disk'), pool: plan.diskPool.name, bytes: spec.diskBytes }]),
      ...(isInstallation ? [own(names.cdrom, 'cdrom')] : []),
      ...(plan.hasSeed ? [own(names.seed, 'seed')] : []),
      ...(hasNvram ? [own(names.nvram, 'nvram')] : []),
      own(names.log, 'serial-log'),
    ],
  };
}

import type { Firmware } from './firmware.js';
import type { Loss } from './loss.js';
import type { Refusal } from './plan.js';

export const DISK_BUSES = ['virtio', 'sata', 'scsi'] as const;
/** How the guest sees a disk: a guest without drivers for another bus does not boot from it. */
export type DiskBus = (typeof DISK_BUSES)[number];

export interface PortableDisk {
  /** The name of the device, unique within the VM. */
  readonly name: string;
  /** The size that the guest sees. */
  readonly sizeBytes: number;
  /** Roughly how much of it is not zero; null when it is unknown. */
  readonly usedBytes: number | null;
  readonly bus: DiskBus;
  /** The storage pool or class that it is in; absent when it is unknown. */
  readonly storageClass?: string;
}

export interface PortableNic {
  readonly name: string;
  /** The network of the source; empty for the network that new VMs get there. */
  readonly network: string;
  /** Empty when the source has not chosen it yet. */
  readonly mac: string;
  readonly model: string;
}

/**
 * The variables of the UEFI firmware, such as boot entries and keys: their size in bytes, or why they can't be read.
 */
export type FirmwareVariables = { readonly sizeBytes: number } | { readonly problem: string };

/** The parts of a VM that every backend has, so that another one can create the same VM. */
export interface PortableVm {
  readonly cpu: number;
  readonly memoryBytes: number;
  /** As libvirt names it, such as `x86_64`; empty when it is unknown. */
  readonly arch: string;
  readonly firmware: Firmware;
  readonly tpm: boolean;
  /** Whether the TPM keeps secrets while the VM is stopped. No backend can read them. */
  readonly hasTpmState?: boolean;
  /** Absent if the firmware has stored none yet. */
  readonly firmwareVariables?: FirmwareVariables;
  /** The short ID of libosinfo for the guest's operating system, such as `win11`; absent when it is unknown. */
  readonly os?: string;
  readonly autostart: boolean;
  readonly tags: readonly string[];
  /** cloud-init user data that the guest has not read yet. A secret: never logged, never in a journal. */
  readonly cloudInit?: string;
  /** The first is the boot disk. */
  readonly disks: readonly PortableDisk[];
  readonly nics: readonly PortableNic[];
}

/** A VM as it can be copied, and what prevents that. */
export interface VmReading {
  readonly vm: PortableVm;
  /** Reasons why it can't be copied at all. */
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly string[];
  /** Properties of the VM that a copy does not have. */
  readonly losses: readonly Loss[];
}

/** The networks and storage classes of the destination, by their names at the source. */
export interface ResourceMapping {
  readonly networks: Readonly<Record<string, string>>;
  readonly storageClasses: Readonly<Record<string, string>>;
}

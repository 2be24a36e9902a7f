import type { DiskBus, Firmware } from '@headgate/domain-contracts';
import type { GuestProfile } from '../guest-profiles/guest-profile.js';
import type { HypervisorFeatures } from '../host/hypervisor-features.js';
import type { InstanceMetadata } from './instance-metadata.js';

/** How QEMU reads and writes disk images; an absent field leaves the choice to QEMU. */
export interface DiskIo {
  /** `none` bypasses the page cache of the machine. `unsafe` never waits for the disk. */
  readonly cache?: 'none' | 'unsafe';
  readonly io?: 'io_uring' | 'native';
}

export interface DiskSpec {
  readonly path: string;
  /** `qcow2`, `raw`, … */
  readonly format: string;
  /** Chosen by the profile of the guest when absent. */
  readonly bus?: DiskBus;
  /** The NBD server on this machine that has the raw content below the changes in the file. */
  readonly backing?: { readonly socket: string; readonly exportName: string };
}

export interface NicSpec {
  /** A virtual network of libvirt. */
  readonly network: string;
  /** Chosen by libvirt when absent. */
  readonly mac?: string;
  /** Chosen by the profile of the guest when absent. */
  readonly model?: string;
}

/** Everything that decides the XML of a new domain. */
export interface DomainSpec {
  readonly name: string;
  readonly uuid: string;
  readonly cpu: number;
  /** The number of CPUs up to which the running VM can grow. */
  readonly maxCpu: number;
  readonly memoryBytes: number;
  /** The memory up to which the running VM can grow; absent when it can't. */
  readonly maxMemoryBytes?: number;
  readonly arch: string;
  /** Hardware acceleration or QEMU's software emulation. */
  readonly accelerator: 'kvm' | 'tcg';
  readonly features: HypervisorFeatures;
  readonly guest: GuestProfile;
  readonly firmware: Firmware;
  /** Path of the file with the variables of the UEFI firmware. */
  readonly nvram?: string;
  /** Whether the VM has an emulated TPM 2.0. */
  readonly tpm: boolean;
  readonly disk: DiskSpec;
  /** Disks besides the boot disk. */
  readonly dataDisks?: readonly DiskSpec[];
  readonly diskIo: DiskIo;
  /** Path of a qcow2 image with the installation ISO, which is booted while the disk is blank. */
  readonly installer?: string;
  /** Path of the ISO with the cloud-init data. */
  readonly seed?: string;
  /**
   * A virtual network of libvirt. Without one, the VM has no network card: user-mode networking would expose the host.
   */
  readonly network?: string;
  /** The network cards, instead of one on `network`. */
  readonly nics?: readonly NicSpec[];
  readonly serial: { readonly socket: string; readonly log?: string };
  /** VNC on a unix socket, or on a loopback TCP port where libvirt is on another machine. */
  readonly vnc: 'socket' | 'loopback';
  readonly metadata: InstanceMetadata;
}

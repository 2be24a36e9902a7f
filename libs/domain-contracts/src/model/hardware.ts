import { DomainError } from '../values/domain-error.js';
import { formatBytes } from '../values/quantity.js';
import type { AttachedHostDevice, AttachHostDeviceChange, DetachHostDeviceChange } from './host-resources.js';
import { describePlacementChange, type Placement, type SetPlacementChange } from './placement.js';
import type { Plan } from './plan.js';

/** A change of the virtual hardware of a VM, or of the limits of a container. Sizes are in bytes. */
export type HardwareChange =
  | ScaleChange
  | AttachVolumeChange
  | DetachVolumeChange
  | ExpandVolumeChange
  | AddNicChange
  | ChangeNicChange
  | RemoveNicChange
  | ChangeMediumChange
  | SetBootOrderChange
  | SetAutostartChange
  | SetPlacementChange
  | AttachHostDeviceChange
  | DetachHostDeviceChange;

export type HardwareChangeKind = HardwareChange['kind'];

/** More or fewer CPUs, more or less memory. Absent fields stay as they are. */
export interface ScaleChange {
  readonly kind: 'scale';
  readonly cpu?: number;
  readonly memoryBytes?: number;
  /**
   * Whether to stop and start a running instance if it can't change while it runs; otherwise the change waits for its
   * next start, or is refused where nothing can wait.
   */
  readonly restart: boolean;
}

/** Adds a disk: a new, blank one, or a volume that exists and that no other instance uses. */
export interface AttachVolumeChange {
  readonly kind: 'attach-volume';
  readonly disk: { readonly sizeBytes: number } | { readonly volume: string };
}

export interface DetachVolumeChange {
  readonly kind: 'detach-volume';
  readonly volume: string;
  /** Whether to delete the volume as well. Only a volume that was created for this VM can be deleted. */
  readonly deleteVolume: boolean;
}

export interface ExpandVolumeChange {
  readonly kind: 'expand-volume';
  readonly volume: string;
  readonly sizeBytes: number;
}

export interface AddNicChange {
  readonly kind: 'add-nic';
  /** The name of the new NIC, unique within the VM. */
  readonly nic: string;
  /** A network of the backend: a network attachment definition of a cluster, or a network of libvirt. */
  readonly network: string;
  /** Six hexadecimal pairs with colons. Chosen by the backend when absent. */
  readonly mac?: string;
}

/** Absent fields stay as they are. */
export interface ChangeNicChange {
  readonly kind: 'change-nic';
  readonly nic: string;
  readonly network?: string;
  /** Whether the cable is plugged in. */
  readonly isLinkUp?: boolean;
}

export interface RemoveNicChange {
  readonly kind: 'remove-nic';
  readonly nic: string;
}

/** Inserts a volume into a CD-ROM drive, or ejects the one in it. */
export interface ChangeMediumChange {
  readonly kind: 'change-medium';
  /** The name of the drive. */
  readonly drive: string;
  /** Null ejects the medium. */
  readonly volume: string | null;
}

export interface SetBootOrderChange {
  readonly kind: 'set-boot-order';
  /** Names of disks, drives and NICs, the first choice first. The others are not booted from. */
  readonly devices: readonly string[];
}

export interface SetAutostartChange {
  readonly kind: 'set-autostart';
  readonly isOn: boolean;
}

/**
 * When a change takes effect: `now`, immediately; `restart`, because the VM is stopped and started for it;
 * `next-start`, when the VM is started the next time.
 */
export const HARDWARE_EFFECTS = ['now', 'restart', 'next-start'] as const;
export type HardwareEffect = (typeof HARDWARE_EFFECTS)[number];

export interface HardwarePlan extends Plan {
  readonly effect: HardwareEffect;
}

export interface HardwareDisk {
  /**
   * The name of its volume, which the changes of volumes take. Absent for a disk without one, such as a container disk.
   */
  readonly volume?: string;
  /** The name of the device, which the boot order takes. */
  readonly device: string;
  readonly type: 'disk' | 'cdrom';
  /** In a container, the path where it is mounted. */
  readonly bus: string;
  /** Null when it is unknown, or when a drive is empty. */
  readonly sizeBytes: number | null;
  /** Whether the VM boots from it, or the container has its root on it. */
  readonly isRoot: boolean;
}

export interface HardwareNic {
  readonly name: string;
  readonly network: string;
  /** Empty when the backend has not chosen it yet. */
  readonly mac: string;
  readonly model: string;
  readonly isLinkUp: boolean;
}

/** A setting whose new value takes effect when the VM is started the next time. */
export interface PendingSetting {
  /** Such as `cpu`, `memory`, `disk sdb`, `nic lan` or `hugepages`. */
  readonly field: string;
  /** The value while the VM runs; empty when the device is new. */
  readonly running: string;
  /** The value of the next start; empty when the device will be gone. */
  readonly configured: string;
}

/**
 * The virtual hardware of a VM, or the limits and the devices of a container: that of the running guest, or that of the
 * next start if it is stopped.
 */
export interface Hardware {
  readonly cpu: number;
  /** The number of CPUs up to which the running VM can grow; null when it is unknown. */
  readonly maxCpu: number | null;
  readonly memoryBytes: number;
  /** The memory up to which the running VM can grow; null when it can't, or when it is unknown. */
  readonly maxMemoryBytes: number | null;
  readonly disks: readonly HardwareDisk[];
  readonly nics: readonly HardwareNic[];
  /** Device names, the first choice first. */
  readonly bootOrder: readonly string[];
  /** Whether it is started with its host; null where the backend has no such setting. */
  readonly autostart: boolean | null;
  readonly placement: Placement;
  /** The devices of the host that are passed through. */
  readonly hostDevices: readonly AttachedHostDevice[];
  /** The exact reason why a restart is required; empty when none is. */
  readonly pending: readonly PendingSetting[];
  /**
   * The settings that the running guest is about to get without a restart, such as by a migration that has not ended.
   * Absent where changes apply at once.
   */
  readonly applying?: readonly PendingSetting[];
  /** The kinds of changes that the backend can make to this instance. Absent: all. */
  readonly changes?: readonly HardwareChangeKind[];
}

export interface HardwareResult {
  readonly effect: HardwareEffect;
  /** The name of the volume that was created or attached. */
  readonly volume?: string;
}

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** Six hexadecimal pairs with colons, of one card: neither a multicast address nor the null address. */
export const isMacAddress = (text: string): boolean => {
  const mac = text.toLowerCase();
  return MAC.test(mac) && (parseInt(mac.slice(0, 2), 16) & 1) === 0 && mac !== '00:00:00:00:00:00';
};

/** The change as the audit log and error messages name it, such as `expand volume data to 20Gi`. */
export function describeHardwareChange(change: HardwareChange): string {
  switch (change.kind) {
    case 'scale': {
      const parts = [
        ...(change.cpu === undefined ? [] : [`${change.cpu} CPUs`]),
        ...(change.memoryBytes === undefined ? [] : [`${formatBytes(change.memoryBytes)} of memory`]),
      ];
      return `scale to ${parts.join(' and ')}`;
    }
    case 'attach-volume':
      return 'sizeBytes' in change.disk
        ? `add a disk of ${formatBytes(change.disk.sizeBytes)}`
        : `attach volume ${change.disk.volume}`;
    case 'detach-volume':
      return `${change.deleteVolume ? 'delete' : 'detach'} volume ${change.volume}`;
    case 'expand-volume':
      return `expand volume ${change.volume} to ${formatBytes(change.sizeBytes)}`;
    case 'add-nic':
      return `add NIC ${change.nic} on ${change.network}`;
    case 'change-nic':
      return `change NIC ${change.nic}`;
    case 'remove-nic':
      return `remove NIC ${change.nic}`;
    case 'change-medium':
      return change.volume === null ? `eject ${change.drive}` : `insert ${change.volume} into ${change.drive}`;
    case 'set-boot-order':
      return `boot from ${change.devices.join(', ')}`;
    case 'set-autostart':
      return `turn autostart ${change.isOn ? 'on' : 'off'}`;
    case 'set-placement':
      return describePlacementChange(change);
    case 'attach-host-device':
      return `attach host device ${change.device}`;
    case 'detach-host-device':
      return `detach host device ${change.name}`;
  }
}

/** The error for a disk or NIC that a VM does not have. */
export const deviceNotFound = (name: string, device: string, present: readonly string[]): DomainError =>
  new DomainError(
    'DEVICE_NOT_FOUND',
    `${name} has no ${device}: it has ${present.length === 0 ? 'none' : present.join(', ')}.`,
  );

/** Pages of one size that a host has reserved. */
export interface HugepagePool {
  readonly pageBytes: number;
  readonly total: number;
  /** Null where the backend does not report it. */
  readonly free: number | null;
}

export interface HostNumaNode {
  readonly id: number;
  /** Such as `0-3,8`. */
  readonly cpus: string;
  readonly memoryBytes: number;
  readonly hugepages: readonly HugepagePool[];
}

/** The CPUs and the memory of one host, as VMs are placed on them. */
export interface HostTopology {
  readonly node: string;
  /** The CPUs that are online; empty where the backend does not report them. */
  readonly cpus: string;
  readonly offlineCpus: string;
  /** Empty where the backend does not report them. */
  readonly numaNodes: readonly HostNumaNode[];
  /** Of all NUMA nodes together. */
  readonly hugepages: readonly HugepagePool[];
  /** Whether the host reserves CPUs for single VMs. */
  readonly reservesCpus: boolean;
}

export const HOST_DEVICE_KINDS = ['pci', 'usb', 'mdev', 'resource'] as const;
/** `resource`: a kind of device that a cluster offers by name and number. */
export type HostDeviceKind = (typeof HOST_DEVICE_KINDS)[number];

/** A device that can be passed through to a VM, or the reason why it can't. */
export interface HostDevice {
  /** The name that is attached: `pci_0000_03_00_0`, or the name of a cluster's resource such as `example.org/gpu`. */
  readonly name: string;
  /** The node that has it; empty if several have it. */
  readonly node: string;
  readonly kind: HostDeviceKind;
  /** For people: the vendor and the product. */
  readonly label: string;
  readonly isGpu: boolean;
  /** The host's driver for it; empty for none. */
  readonly driver: string;
  /** Devices of one group can only be passed through together; null where there is none. */
  readonly iommuGroup: number | null;
  readonly total: number;
  /** The VMs that have it or get it at their next start, as `namespace/name`. */
  readonly usedBy: readonly string[];
  /** Why it can't be passed through to another VM; null if it can. */
  readonly refusal: string | null;
}

/** A host device of a VM. */
export interface AttachedHostDevice {
  /** The name that is detached, unique within the VM. */
  readonly name: string;
  /** The name of the host's device or the cluster's resource. */
  readonly device: string;
  readonly kind: HostDeviceKind;
}

/** Passes a device of the host through to a VM. */
export interface AttachHostDeviceChange {
  readonly kind: 'attach-host-device';
  readonly device: string;
}

export interface DetachHostDeviceChange {
  readonly kind: 'detach-host-device';
  /** The name that the device has in the VM. */
  readonly name: string;
}

const HOST_DEVICE =
  /^[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?(?:\/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

/** The name of a device of a host, or of a cluster's resource: a domain, a slash and a name. */
export const isHostDeviceName = (text: string): boolean => text.length <= 253 && HOST_DEVICE.test(text);

import type { InstanceRef } from '../values/instance-ref.js';

export const STORAGE_KINDS = ['pool', 'class'] as const;
/** `pool`: a storage pool of libvirt. `class`: a storage class of Kubernetes. */
export type StorageKind = (typeof STORAGE_KINDS)[number];

export const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'] as const;
export const VOLUME_MODES = ['Filesystem', 'Block'] as const;

/** The way in which claims of a storage class can be used, as CDI knows it. */
export interface ClaimMode {
  readonly accessMode: string;
  readonly volumeMode: string;
}

/** The free space of a storage class in one segment of the cluster, from a CSIStorageCapacity. Sizes in bytes. */
export interface StorageSegment {
  /** The labels of the nodes that reach it, such as `topology.kubernetes.io/zone=a`; empty for every node. */
  readonly nodes: string;
  /** Null where the driver reports none. */
  readonly freeBytes: number | null;
  /** The size of the largest volume that fits; null where the driver reports none. */
  readonly maxVolumeBytes: number | null;
}

/** A place for volumes. All sizes in bytes; null is unknown. */
export interface ClusterStorage {
  readonly kind: StorageKind;
  readonly name: string;
  /** The type of the pool, such as `dir`, or the provisioner of the class. */
  readonly type: string;
  /** Whether new disks are here unless the request names another. */
  readonly isDefault: boolean;
  readonly isActive: boolean;
  readonly capacityBytes: number | null;
  /** In use: of a pool by whatever is on it, of a class the sum of the sizes of its claims. */
  readonly allocatedBytes: number | null;
  readonly freeBytes: number | null;
  /** Why the free space is unknown, one sentence; empty where it is known. */
  readonly spaceUnknown: string;
  /** The number of volumes, those that no instance uses included. */
  readonly volumes: number | null;
  readonly canExpand: boolean;
  readonly claimModes: readonly ClaimMode[];
  readonly segments: readonly StorageSegment[];
  /** The instances with a disk here, each once, sorted. */
  readonly users: readonly InstanceRef[];
}

/** Addresses that the DHCP server of a network assigns. */
export interface AddressRange {
  readonly start: string;
  readonly end: string;
}

/** A network with what its definition says. Empty texts are unknown or do not apply. */
export interface NetworkDetails {
  readonly namespace: string;
  readonly name: string;
  /** The forwarding of libvirt, such as `nat`, or `isolated`; the type of the CNI plugin in a cluster. */
  readonly mode: string;
  /** The bridge of the host. */
  readonly bridge: string;
  readonly isActive: boolean;
  /** Such as `192.168.122.1/24`. */
  readonly addresses: readonly string[];
  readonly dhcp: readonly AddressRange[];
  /** The instances with a card in it, each once, sorted. */
  readonly users: readonly InstanceRef[];
}

/** A running instance of a node, and what its backend does with it when the node fails. */
export interface AffectedInstance {
  readonly ref: InstanceRef;
  readonly memoryBytes: number;
  /** Whole virtual CPUs. */
  readonly cpu: number;
  /** Why nothing starts it elsewhere, one sentence; empty if the backend does. */
  readonly staysDown: string;
  /** The other nodes that it may be started on. Their free resources are not considered. */
  readonly candidates: readonly string[];
  /** Conditions that were not checked for it, each a phrase. */
  readonly unchecked: readonly string[];
}

export const FAILURE_OUTCOMES = ['restarts', 'no-room', 'stays-down'] as const;
/**
 * What becomes of an instance when its node fails. `restarts`: its backend starts it on another node. `no-room`: it
 * would, but no node has room. `stays-down`: nothing starts it elsewhere.
 */
export type FailureOutcome = (typeof FAILURE_OUTCOMES)[number];

/** The consequences of the failure of a node. */
export interface NodeFailure {
  /** The largest number of virtual CPUs for each CPU of a node. */
  readonly cpusPerCpu: number;
  readonly instances: readonly AffectedInstance[];
  /** Conditions that were not checked for any of them, each a sentence. */
  readonly unchecked: readonly string[];
}

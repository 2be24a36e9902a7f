/** A machine that runs guests. */
export interface ClusterNode {
  readonly name: string;
  readonly ready: boolean;
  /** Comma-separated. */
  readonly roles: string;
  /** The version of the agent that runs guests there: the kubelet's, or libvirt's. */
  readonly kubelet: string;
  readonly arch: string;
  /** 1000 is one CPU; null when it is unknown. */
  readonly cpuMillicores: number | null;
  readonly memoryBytes: number | null;
}

export interface StorageCapabilities {
  /** The default storage class for new VM disks; empty when there is none. */
  readonly storageClass: string;
  readonly canExpand: boolean;
  readonly canSnapshot: boolean;
}

export interface InstancetypeSize {
  readonly name: string;
  /** Whole virtual CPUs. */
  readonly cpu: number;
  readonly memoryBytes: number;
}

export interface InstancetypeNames {
  readonly instancetypes: readonly string[];
  readonly preferences: readonly string[];
  /** Of the instancetypes whose size is known. */
  readonly sizes: readonly InstancetypeSize[];
}

/** A network that a card of a VM can be attached to. */
export interface ClusterNetwork {
  readonly namespace: string;
  readonly name: string;
}

/** The infrastructure of a backend. */
export abstract class ClusterInventory {
  /** @throws DomainError BACKEND_UNREACHABLE */
  abstract nodes(): Promise<readonly ClusterNode[]>;
  abstract storage(): Promise<StorageCapabilities>;
  abstract instancetypes(): Promise<InstancetypeNames>;
  /** Sorted by namespace and name. */
  abstract networks(): Promise<readonly ClusterNetwork[]>;
}

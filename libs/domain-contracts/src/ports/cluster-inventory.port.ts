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

/** The space of a disk on which volumes of VMs are. All sizes in bytes. */
export interface StorageSpace {
  /** The name of the storage pool. */
  readonly storage: string;
  readonly freeBytes: number;
  /** Free space below which changes that need more of it are refused with INSUFFICIENT_STORAGE. */
  readonly requiredBytes: number;
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
  /**
   * The disks whose free space is known: none by default, because the storage classes of a cluster do not report it.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  storageSpace(): Promise<readonly StorageSpace[]> {
    return Promise.resolve([]);
  }
  abstract instancetypes(): Promise<InstancetypeNames>;
  /** Sorted by namespace and name. */
  abstract networks(): Promise<readonly ClusterNetwork[]>;
}

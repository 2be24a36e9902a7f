import type { ClusterStorage, NetworkDetails, NodeFailure } from '../model/infrastructure.js';

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
  /** The resources for guests: the capacity without those that the node keeps for itself. Null when unknown. */
  readonly allocatable: { readonly cpuMillicores: number | null; readonly memoryBytes: number | null };
  /** The failure domain; empty when it has none. */
  readonly zone: string;
  /** Why no new guest is started on it, one sentence; empty if guests are. */
  readonly unschedulable: string;
  /** Whether it was cordoned, whatever else keeps new guests off it. */
  readonly isCordoned?: boolean;
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
  /**
   * The pools or storage classes with their users, inactive ones included, sorted by name.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract storages(): Promise<readonly ClusterStorage[]>;
  /**
   * The networks with their users, inactive ones included, sorted by namespace and name.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract networkDetails(): Promise<readonly NetworkDetails[]>;
  /**
   * What would happen to the running instances of a node if it failed. Changes nothing.
   * @throws DomainError NODE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract failureOf(node: string): Promise<NodeFailure>;
}

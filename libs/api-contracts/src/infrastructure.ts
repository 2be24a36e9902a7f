import {
  FAILURE_OUTCOMES,
  INSTANCE_KINDS,
  STORAGE_KINDS,
  type FailureOutcome,
  type InstanceKind,
  type StorageKind,
} from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsString, MaxLength, Min, MinLength } from 'class-validator';
import { IsContextName, Nested, Nullable, Optional } from './fields.js';
import { NodeResourcesView } from './metrics.js';

/** `{name}` of the path of a node. */
export class NodePath {
  /** The name of the node. */
  @IsString() @MinLength(1) @MaxLength(253) name!: string;
}

/** Chooses the context of a node. */
export class NodeQuery {
  /** The context that has the node: nodes of several contexts may have the same name. */
  @IsContextName() context!: string;
}

/** An element of GET /api/ext/nodes. */
export class NodeDetailsView {
  /** The name of the node, or of the host. */
  @IsString() name!: string;
  /** The context that it belongs to. */
  @IsString() context!: string;
  /** Whether it can run guests. */
  @IsBoolean() ready!: boolean;
  /** Whether new guests are started on it. */
  @IsBoolean() schedulable!: boolean;
  /** Why none are, one sentence. */
  @Optional() @IsString() unschedulable?: string;
  /** Whether it was cordoned, whatever else keeps new guests off it. */
  @IsBoolean() cordoned!: boolean;
  /** The failure domain, as the label `topology.kubernetes.io/zone` names it; absent where there is none. */
  @Optional() @IsString() zone?: string;
  /** Comma-separated. */
  @IsString() roles!: string;
  /** Version of the agent that runs guests on the node. */
  @IsString() kubelet!: string;
  /** The architecture of its CPUs, such as `amd64`. */
  @IsString() arch!: string;
  /** The resources that it has. */
  @Nested(() => NodeResourcesView) capacity!: NodeResourcesView;
  /** The capacity without the part that the node keeps for itself. */
  @Nested(() => NodeResourcesView) allocatable!: NodeResourcesView;
  /**
   * The sum of the sizes of its running instances: virtual CPUs of VMs and CPUs of containers, and their memory. May be
   * more CPU than the node has.
   */
  @Nested(() => NodeResourcesView) promised!: NodeResourcesView;
  /** The part of the capacity that is in use. */
  @Nested(() => NodeResourcesView) load!: NodeResourcesView;
  /** The number of its running VMs and containers, also of those that the caller may not read. */
  @IsInt() @Min(0) instances!: number;
}

/** Names an instance. */
export class InstanceNameView {
  /** The ref of the instance. */
  @IsString() ref!: string;
  /** Whether it is a VM or a container. */
  @IsIn(INSTANCE_KINDS) kind!: InstanceKind;
  /** Its namespace. */
  @IsString() namespace!: string;
  /** Its name. */
  @IsString() name!: string;
}

/** An instance of a node that fails. */
export class AffectedInstanceView extends InstanceNameView {
  /**
   * `restarts`: the backend starts it on another node. `no-room`: it would, but no node has room. `stays-down`: nothing
   * starts it elsewhere.
   */
  @IsIn(FAILURE_OUTCOMES) outcome!: FailureOutcome;
  /** The nodes with room for it, after larger instances got theirs. */
  @IsArray() @IsString({ each: true }) nodes!: string[];
  /** Why it does not restart, one sentence. */
  @Optional() @IsString() reason?: string;
  /** Conditions that were not checked for it, each a phrase such as `free hugepages`. */
  @IsArray() @IsString({ each: true }) unchecked!: string[];
}

/** GET /api/ext/nodes/{name}/failure */
export class NodeFailureView {
  /** The name of the node. */
  @IsString() node!: string;
  /** Its context. */
  @IsString() context!: string;
  /** Its running instances that the caller may read, the largest first. */
  @IsArray() @Nested(() => AffectedInstanceView, { each: true }) instances!: AffectedInstanceView[];
  /** The number of those that the caller may not read. They take room too. */
  @IsInt() @Min(0) hidden!: number;
  /** Conditions that were not checked for any of them, each a sentence. */
  @IsArray() @IsString({ each: true }) unchecked!: string[];
}

/** The ways in which claims of a storage class can be used, as CDI knows them. */
export class ClaimModeView {
  /** Such as `ReadWriteMany`. */
  @IsString() accessMode!: string;
  /** `Block` or `Filesystem`. */
  @IsString() volumeMode!: string;
}

/** The free space of a storage class in a segment of the cluster. */
export class StorageSegmentView {
  /** The labels of the nodes that reach it; empty for all nodes. */
  @IsString() nodes!: string;
  /** In bytes; null where the driver reports none. */
  @Nullable() @IsInt() @Min(0) freeBytes!: number | null;
  /** The size of the largest volume that fits, in bytes; null where the driver reports none. */
  @Nullable() @IsInt() @Min(0) maxVolumeBytes!: number | null;
}

/** An element of GET /api/ext/storage: a storage pool of libvirt or a storage class. */
export class StorageView {
  /** The name of the pool or the class. */
  @IsString() name!: string;
  /** The context that has it. */
  @IsString() context!: string;
  /** `pool`: a storage pool of libvirt. `class`: a storage class of Kubernetes. */
  @IsIn(STORAGE_KINDS) kind!: StorageKind;
  /** The type of the pool, such as `dir`, or the provisioner of the class. */
  @IsString() type!: string;
  /** Whether new disks are created here unless the request names another. */
  @IsBoolean() default!: boolean;
  /** Whether it can be used: false for a pool that is not started. */
  @IsBoolean() active!: boolean;
  /** The size in bytes; null where it is unknown, as of every storage class. */
  @Nullable() @IsInt() @Min(0) capacityBytes!: number | null;
  /**
   * In bytes: the space of a pool that is in use, and the sum of the sizes of the claims of a class. Null where it is
   * unknown.
   */
  @Nullable() @IsInt() @Min(0) allocatedBytes!: number | null;
  /** The free space in bytes; of a class the sum of its segments. Null where it is unknown. */
  @Nullable() @IsInt() @Min(0) freeBytes!: number | null;
  /** Why the free space is unknown, one sentence. */
  @Optional() @IsString() spaceUnknown?: string;
  /** The number of volumes or claims, used or not; null where it is unknown. */
  @Nullable() @IsInt() @Min(0) volumes!: number | null;
  /** Whether disks here can grow. */
  @IsBoolean() canExpand!: boolean;
  /** From the StorageProfile of a class; empty where there is none. */
  @IsArray() @Nested(() => ClaimModeView, { each: true }) modes!: ClaimModeView[];
  /** From the CSIStorageCapacity objects of a class; empty where there are none. */
  @IsArray() @Nested(() => StorageSegmentView, { each: true }) segments!: StorageSegmentView[];
  /** The instances with a disk here that the caller may read. */
  @IsArray() @Nested(() => InstanceNameView, { each: true }) users!: InstanceNameView[];
  /** The number of those that the caller may not read. */
  @IsInt() @Min(0) hiddenUsers!: number;
}

/** A range of addresses. */
export class AddressRangeView {
  /** The first address. */
  @IsString() start!: string;
  /** The last address. */
  @IsString() end!: string;
}

/** An element of GET /api/ext/networks: a network of libvirt or a network attachment definition. */
export class NetworkDetailsView {
  /** The namespace of the network. */
  @IsString() namespace!: string;
  /** The name of the network. */
  @IsString() name!: string;
  /** `namespace/name`, as POST /api/vms/{ns}/{name}/nics takes it. */
  @IsString() ref!: string;
  /** The context that has it. */
  @IsString() context!: string;
  /** The forwarding of libvirt, such as `nat` or `isolated`, or the type of the CNI plugin; empty where unknown. */
  @IsString() mode!: string;
  /** The bridge or the device of the host; empty where unknown. */
  @IsString() bridge!: string;
  /** Whether cards can be attached: false for a network of libvirt that is not started. */
  @IsBoolean() active!: boolean;
  /** Addresses of the host with the length of the prefix, or the range of the plugin. */
  @IsArray() @IsString({ each: true }) addresses!: string[];
  /** The addresses that are assigned to guests. */
  @IsArray() @Nested(() => AddressRangeView, { each: true }) dhcp!: AddressRangeView[];
  /** The instances with a card in it that the caller may read. */
  @IsArray() @Nested(() => InstanceNameView, { each: true }) users!: InstanceNameView[];
  /** The number of those that the caller may not read. */
  @IsInt() @Min(0) hiddenUsers!: number;
}

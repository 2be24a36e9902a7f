import { HOST_DEVICE_KINDS, MEMORY_NODE_MODES, type HostDeviceKind } from '@headgate/domain-contracts';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { IsCpuSet, IsHostDeviceName, IsMemorySize, IsSwitch, Nested, Nullable, Optional } from './fields.js';
import { ChangeQuery, InstancePath } from './queries.js';

/** CPUs that a cluster reserves for a VM. Absent fields stay as they are. */
export class DedicatedCpusDto {
  /** Whether the CPUs of the VM are reserved for it alone. */
  @Optional() @IsBoolean() on?: boolean;
  /** Whether the emulator has a CPU of its own besides them. */
  @Optional() @IsBoolean() isolateEmulator?: boolean;
  /** Whether the guest sees the NUMA nodes of its CPUs. Needs hugepages. */
  @Optional() @IsBoolean() numa?: boolean;
}

/** The CPUs of the host on which one CPU of the guest runs. */
export class VcpuPinDto {
  /** The number of the CPU of the guest, counted from 0. */
  @IsInt() @Min(0) @Max(511) vcpu!: number;
  /** CPUs of the host, such as `0-3,8`. */
  @IsCpuSet() cpus!: string;
}

/** The NUMA nodes of the host that have the memory of the guest. */
export class MemoryNodesDto {
  /** `strict`: only these; `preferred`: one, others when it is full; `interleave`: all in turn. */
  @IsIn(MEMORY_NODE_MODES) mode!: (typeof MEMORY_NODE_MODES)[number];
  /** NUMA nodes of the host, such as `0-1`. */
  @IsCpuSet() nodes!: string;
}

/** A NUMA node of the guest. */
export class GuestCellDto {
  /** CPUs of the guest. */
  @IsCpuSet() cpus!: string;
  /** The size of its memory. */
  @IsMemorySize() mem!: string;
}

/** CPUs and memory of the host that are chosen for a VM. Absent fields stay as they are. */
export class PinningDto {
  /** All pins: CPUs of the guest that are not in the list run anywhere. */
  @Optional() @IsArray() @ArrayMaxSize(512) @Nested(() => VcpuPinDto, { each: true }) vcpus?: VcpuPinDto[];
  /** Null: the emulator runs anywhere. */
  @Optional() @Nullable() @IsCpuSet() emulatorCpus?: string | null;
  /** Null: memory of any node. */
  @Optional() @Nullable() @Nested(() => MemoryNodesDto) memory?: MemoryNodesDto | null;
  /** All NUMA nodes of the guest, with all of its CPUs and its memory; an empty list removes them. */
  @Optional() @IsArray() @ArrayMaxSize(64) @Nested(() => GuestCellDto, { each: true }) cells?: GuestCellDto[];
}

/** POST /api/ext/vms/{ns}/{name}/placement. At least one setting must be given. */
export class PlacementDto {
  /** On clusters, which choose the CPUs. */
  @Optional() @Nested(() => DedicatedCpusDto) dedicated?: DedicatedCpusDto;
  /** On libvirt, where the CPUs are named. */
  @Optional() @Nested(() => PinningDto) pinning?: PinningDto;
  /** The size of the pages that back the memory, such as `2Mi` or `1Gi`; null for ordinary ones. */
  @Optional() @Nullable() @IsMemorySize() hugepages?: string | null;
}

/** The query of a change of the placement. */
export class PlacementQuery extends ChangeQuery {
  /**
   * Whether a running VM that can't change while it runs is stopped and started for it; otherwise the change waits for
   * its next start. Default false.
   */
  @Optional() @IsSwitch() restart?: 'true' | 'false';
}

/** POST /api/ext/vms/{ns}/{name}/devices */
export class AttachHostDeviceDto {
  /** A device as `GET /api/ext/host-resources` lists it. */
  @IsHostDeviceName() device!: string;
}

/** `{ns}`, `{name}` and `{device}` of a path. */
export class HostDevicePath extends InstancePath {
  /** The name that the device has in the VM. */
  @IsHostDeviceName() device!: string;
}

/** CPUs that a cluster reserves for a VM. */
export class DedicatedCpusView {
  /** Whether the CPUs of the VM are reserved for it alone. */
  @IsBoolean() on!: boolean;
  /** Whether the emulator has a CPU of its own besides them. */
  @IsBoolean() isolateEmulator!: boolean;
  /** Whether the guest sees the NUMA nodes of its CPUs. */
  @IsBoolean() numa!: boolean;
}

/** The CPUs of the host on which one CPU of the guest runs. */
export class VcpuPinView {
  /** The number of the CPU of the guest, counted from 0. */
  @IsInt() vcpu!: number;
  /** CPUs of the host, such as `0-3,8`. */
  @IsString() cpus!: string;
}

/** The NUMA nodes of the host that have the memory of the guest. */
export class MemoryNodesView {
  /** `strict`, `preferred` or `interleave`, or another mode of libvirt. */
  @IsString() mode!: string;
  /** `auto` if libvirt chooses them. */
  @IsString() nodes!: string;
}

/** A NUMA node of the guest. */
export class GuestCellView {
  /** CPUs of the guest, such as `0-3`. */
  @IsString() cpus!: string;
  /** A binary quantity. */
  @IsString() mem!: string;
}

/** CPUs and memory of the host that are chosen for a VM. */
export class PinningView {
  /** The pinned CPUs of the guest; the others run anywhere. */
  @IsArray() @Nested(() => VcpuPinView, { each: true }) vcpus!: VcpuPinView[];
  /** The CPUs of the host on which the emulator runs; null for any. */
  @Nullable() @IsString() emulatorCpus!: string | null;
  /** The NUMA nodes that have the memory; null for any. */
  @Nullable() @Nested(() => MemoryNodesView) memory!: MemoryNodesView | null;
  /** The NUMA nodes of the guest; empty if it has none. */
  @IsArray() @Nested(() => GuestCellView, { each: true }) cells!: GuestCellView[];
}

/** Where the CPUs and the memory of a VM are on its host. */
export class PlacementView {
  /** Null where the backend does not reserve CPUs itself. */
  @Nullable() @Nested(() => DedicatedCpusView) dedicated!: DedicatedCpusView | null;
  /** Null where the backend does not let users choose the CPUs. */
  @Nullable() @Nested(() => PinningView) pinning!: PinningView | null;
  /** The size of the pages; null for ordinary ones. */
  @Nullable() @IsString() hugepages!: string | null;
}

/** A device of the host that is passed through to a VM. */
export class AttachedHostDeviceView {
  /** The name that the device has in the VM. */
  @IsString() name!: string;
  /** The device of the host, or the resource of the cluster. */
  @IsString() device!: string;
  /** `resource`: a kind of device that a cluster offers by name and number. */
  @IsIn(HOST_DEVICE_KINDS) kind!: HostDeviceKind;
}

/** Reserved pages of one size. */
export class HugepagePoolView {
  /** A binary quantity. */
  @IsString() size!: string;
  /** The number of reserved pages. */
  @IsInt() total!: number;
  /** The number of pages that are free; null where it is unknown. */
  @Nullable() @IsInt() free!: number | null;
}

/** A NUMA node of a host. */
export class HostNumaNodeView {
  /** The number of the node, counted from 0. */
  @IsInt() id!: number;
  /** Its CPUs, such as `0-3,8`. */
  @IsString() cpus!: string;
  /** A binary quantity. */
  @IsString() mem!: string;
  /** Its reserved pages, by their size. */
  @IsArray() @Nested(() => HugepagePoolView, { each: true }) hugepages!: HugepagePoolView[];
}

/** The CPUs and the memory of a host. */
export class HostTopologyView {
  /** The context of the host. */
  @IsString() context!: string;
  /** The name of the host. */
  @IsString() node!: string;
  /** Those that are online, such as `0-3,8`; empty where they are unknown. */
  @IsString() cpus!: string;
  /** The CPUs that are offline, such as `4-7`; may be empty. */
  @IsString() offlineCpus!: string;
  /** The NUMA nodes of the host. */
  @IsArray() @Nested(() => HostNumaNodeView, { each: true }) numaNodes!: HostNumaNodeView[];
  /** Of all NUMA nodes together. */
  @IsArray() @Nested(() => HugepagePoolView, { each: true }) hugepages!: HugepagePoolView[];
  /** Whether the host reserves CPUs for single VMs. */
  @IsBoolean() reservesCpus!: boolean;
}

/** A device of a host, or the reason why it can't be passed through. */
export class HostDeviceView {
  /** The context of the host. */
  @IsString() context!: string;
  /** Empty if several nodes have it. */
  @IsString() node!: string;
  /** The name that POST /api/ext/vms/{ns}/{name}/devices takes. */
  @IsString() name!: string;
  /** `resource`: a kind of device that a cluster offers by name and number. */
  @IsIn(HOST_DEVICE_KINDS) kind!: HostDeviceKind;
  /** The vendor and the product. */
  @IsString() label!: string;
  /** Whether it is a graphics card. */
  @IsBoolean() gpu!: boolean;
  /** The host's driver for it; empty for none. */
  @IsString() driver!: string;
  /** The number of its IOMMU group; null if there is none. */
  @Nullable() @IsInt() iommuGroup!: number | null;
  /** The number of devices: 1, or more for a resource of a cluster. */
  @IsInt() total!: number;
  /** VMs that have it or get it at their next start, as `namespace/name`. */
  @IsArray() @IsString({ each: true }) usedBy!: string[];
  /** Why it can't be passed through to another VM; null if it can. */
  @Nullable() @IsString() refusal!: string | null;
}

/** GET /api/ext/host-resources */
export class HostResourcesView {
  /** The CPUs and the memory of each host. */
  @IsArray() @Nested(() => HostTopologyView, { each: true }) hosts!: HostTopologyView[];
  /** The devices of the hosts. */
  @IsArray() @Nested(() => HostDeviceView, { each: true }) devices!: HostDeviceView[];
}

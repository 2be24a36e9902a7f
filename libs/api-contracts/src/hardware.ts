import { HARDWARE_EFFECTS, type HardwareEffect } from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  IsDiskSize,
  IsInstanceName,
  IsMacAddress,
  IsMemorySize,
  IsNetworkName,
  IsStorageName,
  IsSwitch,
  IsVolumeName,
  Nested,
  Nullable,
  Optional,
} from './fields.js';
import { AttachedHostDeviceView, PlacementView } from './placement.js';
import { ChangeQuery, InstancePath } from './queries.js';

/** The name of a device such as `vda`, or of a NIC. */
export const DEVICE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,62})$/;
export const DEVICE_RULE = '$property must be the name of a device of the VM, such as vda.';

/** POST /api/vms/{ns}/{name}/scale. At least one of the two must be given. */
export class ScaleDto {
  /** The new number of CPUs. */
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  /** The new size of the memory. */
  @Optional() @IsMemorySize() mem?: string;
}

/** The query of a scale. */
export class ScaleQuery extends ChangeQuery {
  /**
   * Whether a running VM that can't be scaled while it runs is stopped and started for it; otherwise the new size waits
   * for its next start. Default true.
   */
  @Optional() @IsSwitch() restart?: 'true' | 'false';
}

/** POST /api/vms/{ns}/{name}/volumes. Exactly one of the two must be given. */
export class AttachVolumeDto {
  /** The size of a new disk. */
  @Optional() @IsDiskSize() size?: string;
  /** A volume that exists and that no other instance uses. */
  @Optional() @IsVolumeName() pvc?: string;
}

/** `{ns}`, `{name}` and `{vol}` of a path. */
export class VolumePath extends InstancePath {
  /** The name of a volume of the VM, as `pvc` in its hardware. */
  @IsVolumeName() vol!: string;
}

/** The query of the removal of a disk. */
export class DetachVolumeQuery extends ChangeQuery {
  /**
   * Whether to delete the volume too. Only one that was created for this VM can be deleted. Default false: it is kept.
   */
  @Optional() @IsSwitch() delete?: 'true' | 'false';
}

/** POST /api/ext/vms/{ns}/{name}/volumes/{vol}/move */
export class MoveDiskDto {
  /** The storage that receives the disk: an active pool of libvirt, or a storage class of a cluster. */
  @IsStorageName() storage!: string;
}

/** POST /api/vms/{ns}/{name}/expand */
export class ExpandVolumeDto {
  /** The name of a volume of the VM. */
  @IsVolumeName() pvc!: string;
  /** The new size, at least the present one. */
  @IsDiskSize() size!: string;
}

/** POST /api/vms/{ns}/{name}/nics */
export class AddNicDto {
  /**
   * A network attachment definition as `namespace/name`, or by its name in the VM's namespace; on libvirt the name of a
   * network.
   */
  @IsNetworkName() nad!: string;
  /** The name of the new NIC, unique within the VM. */
  @IsInstanceName() iface!: string;
  /** Chosen by the backend when absent. */
  @Optional() @IsMacAddress() mac?: string;
}

/** `{ns}`, `{name}` and `{iface}` of a path. */
export class NicPath extends InstancePath {
  /** The name of a NIC of the VM. */
  @Matches(DEVICE, { message: DEVICE_RULE }) iface!: string;
}

/** POST /api/ext/vms/{ns}/{name}/nics/{iface}. At least one of the two must be given. */
export class ChangeNicDto {
  /** The network to connect the NIC to, as for a new NIC. */
  @Optional() @IsNetworkName() nad?: string;
  /** `down` unplugs the cable. */
  @Optional() @IsIn(['up', 'down']) link?: 'up' | 'down';
}

/** `{ns}`, `{name}` and `{drive}` of a path. */
export class DrivePath extends InstancePath {
  /** The device of a CD or DVD drive of the VM, such as `sda`. */
  @Matches(DEVICE, { message: DEVICE_RULE }) drive!: string;
}

/** POST /api/ext/vms/{ns}/{name}/drives/{drive} */
export class ChangeMediumDto {
  /** The volume to insert; null ejects the present one. */
  @Nullable() @IsVolumeName() pvc!: string | null;
}

/** POST /api/ext/vms/{ns}/{name}/boot-order */
export class BootOrderDto {
  /** Devices of the VM, the first choice first. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(32)
  @ArrayUnique()
  @Matches(DEVICE, { each: true, message: DEVICE_RULE })
  devices!: string[];
}

/** POST /api/ext/vms/{ns}/{name}/autostart */
export class AutostartDto {
  /** Whether the VM starts with its host. */
  @IsBoolean() on!: boolean;
}

/** A setting whose new value takes effect later. */
export class PendingSettingView {
  /** Such as `cpu`, `memory`, `disk sdb` or `nic lan`. */
  @IsString() @MaxLength(255) field!: string;
  /** Empty when the device is new. */
  @IsString() running!: string;
  /** Empty when the device will be gone. */
  @IsString() configured!: string;
}

/** The fields of each response to a change of the hardware. */
export class HardwareChangeView {
  /** `now`; `restart`: the VM was stopped and started; `next-start`: when it is started the next time. */
  @IsIn(HARDWARE_EFFECTS) effect!: HardwareEffect;
  /** The exact reason why a restart is required; empty when none is. */
  @IsArray() @Nested(() => PendingSettingView, { each: true }) pending!: PendingSettingView[];
  /**
   * The settings that the running guest is still to get without a restart, such as by a migration. They are in the
   * hardware of the VM until it has them. Absent when there are none.
   */
  @Optional() @IsArray() @Nested(() => PendingSettingView, { each: true }) applying?: PendingSettingView[];
}

/** The response to `scale`, `expand`, `nics` and the removal of a disk. */
export class HardwareStatusView extends HardwareChangeView {
  /** `ok`, or `removed` for a disk. */
  @IsString() status!: string;
}

/** The response to a new disk. */
export class AttachedVolumeView extends HardwareChangeView {
  /** The name of the volume. */
  @IsString() pvc!: string;
}

/** A disk or a drive of a VM. */
export class HardwareDiskView {
  /** The name of the volume, as the other routes take it; null for a disk without one, such as a container disk. */
  @Nullable() @IsString() pvc!: string | null;
  /** The device, such as `vda`, or the name of the disk in a cluster. */
  @IsString() device!: string;
  /** `cdrom` is a drive for CDs and DVDs. */
  @IsIn(['disk', 'cdrom']) type!: 'disk' | 'cdrom';
  /** The bus that it is connected to, such as `virtio`; of a container, the path where it is mounted. */
  @IsString() bus!: string;
  /** A binary quantity; null when it is unknown or the drive is empty. */
  @Nullable() @IsString() size!: string | null;
  /** Whether the VM boots from it. */
  @IsBoolean() isRoot!: boolean;
}

/** A network interface of a VM. */
export class HardwareNicView {
  /** The name of the NIC, unique within the VM. */
  @IsString() iface!: string;
  /** The network that it is connected to. */
  @IsString() nad!: string;
  /** Empty until the backend has chosen it. */
  @IsString() mac!: string;
  /** The emulated card, such as `virtio`. */
  @IsString() model!: string;
  /** `down`: the cable is unplugged. */
  @IsIn(['up', 'down']) link!: 'up' | 'down';
}

/** GET /api/ext/vms/{ns}/{name}/hardware, and the same of containers */
export class HardwareView {
  /** The number of CPUs, as of the next start. */
  @IsInt() @Min(0) cpu!: number;
  /** The number of CPUs up to which the running VM can grow; null when it is unknown. */
  @Nullable() @IsInt() maxCpu!: number | null;
  /** The size of the memory, a binary quantity. */
  @IsString() mem!: string;
  /** The memory up to which the running VM can grow, a binary quantity; null when it can't or when it is unknown. */
  @Nullable() @IsString() maxMem!: string | null;
  /** The disks and drives. */
  @IsArray() @Nested(() => HardwareDiskView, { each: true }) disks!: HardwareDiskView[];
  /** The network interfaces. */
  @IsArray() @Nested(() => HardwareNicView, { each: true }) nics!: HardwareNicView[];
  /** The devices that the VM boots from, the first choice first. */
  @IsArray() @IsString({ each: true }) bootOrder!: string[];
  /** Whether it is started with its host; null where the backend has no such setting. */
  @Nullable() @IsBoolean() autostart!: boolean | null;
  /** As of the next start. */
  @Nested(() => PlacementView) placement!: PlacementView;
  /** The devices of the host that are passed through. */
  @IsArray() @Nested(() => AttachedHostDeviceView, { each: true }) hostDevices!: AttachedHostDeviceView[];
  /** The settings whose new values take effect at the next start. */
  @IsArray() @Nested(() => PendingSettingView, { each: true }) pending!: PendingSettingView[];
  /** The settings that the running guest is still to get without a restart; absent when there are none. */
  @Optional() @IsArray() @Nested(() => PendingSettingView, { each: true }) applying?: PendingSettingView[];
  /** The kinds of changes that are possible, such as `scale`; absent when all are. */
  @Optional() @IsArray() @IsString({ each: true }) changes?: string[];
}

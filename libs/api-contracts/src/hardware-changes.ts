import { HARDWARE_EFFECTS, MAX_HARDWARE_CHANGES, type HardwareEffect } from '@headgate/domain-contracts';
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
  Min,
} from 'class-validator';
import { PlanView, PlanStepView, RefusalView } from './answers.js';
import {
  IsDiskSize,
  IsHostDeviceName,
  IsMacAddress,
  IsMemorySize,
  IsNetworkName,
  IsSwitch,
  IsVolumeName,
  Nested,
  Nullable,
  Optional,
} from './fields.js';
import { DEVICE, DEVICE_RULE, HardwareChangeView } from './hardware.js';
import { PlacementDto } from './placement.js';
import { ChangeQuery } from './queries.js';

/** The kinds of changes, each with the fields that it takes; those with `!` are required. */
export const HARDWARE_CHANGE_FIELDS = {
  scale: ['cpu', 'mem'],
  'attach-volume': ['size', 'pvc'],
  'detach-volume': ['pvc!', 'delete'],
  'expand-volume': ['pvc!', 'size!'],
  'add-nic': ['iface!', 'nad!', 'mac'],
  'change-nic': ['iface!', 'nad', 'link'],
  'remove-nic': ['iface!'],
  'change-medium': ['drive!', 'pvc!'],
  'set-boot-order': ['devices!'],
  'set-autostart': ['on!'],
  'set-placement': ['placement!'],
  'attach-host-device': ['device!'],
  'detach-host-device': ['device!'],
} as const;

export type HardwareChangeName = keyof typeof HARDWARE_CHANGE_FIELDS;
export const HARDWARE_CHANGE_NAMES = Object.keys(HARDWARE_CHANGE_FIELDS) as HardwareChangeName[];

/** One change of the hardware, with the fields of its kind. */
export class HardwareChangeDto {
  /**
   * `scale` takes `cpu` and `mem`; `attach-volume` either `size` or `pvc`; `detach-volume` takes `pvc` and `delete`;
   * `expand-volume` `pvc` and `size`; `add-nic` `iface`, `nad` and `mac`; `change-nic` `iface`, `nad` and `link`;
   * `remove-nic` `iface`; `change-medium` `drive` and `pvc`; `set-boot-order` `devices`; `set-autostart` `on`;
   * `set-placement` `placement`; `attach-host-device` and `detach-host-device` `device`.
   */
  @IsIn(HARDWARE_CHANGE_NAMES) kind!: HardwareChangeName;
  /** The new number of CPUs. */
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  /** The new size of the memory. */
  @Optional() @IsMemorySize() mem?: string;
  /** The size of a new disk, or the new size of a disk. */
  @Optional() @IsDiskSize() size?: string;
  /** The name of a volume; null ejects the medium of a drive. */
  @Optional() @Nullable() @IsVolumeName() pvc?: string | null;
  /** Whether to delete the volume of a detached disk too. Default false. */
  @Optional() @IsBoolean() delete?: boolean;
  /** The name of a NIC. */
  @Optional() @Matches(DEVICE, { message: DEVICE_RULE }) iface?: string;
  /** The network of a NIC. */
  @Optional() @IsNetworkName() nad?: string;
  /** The address of a new NIC, chosen by the backend when absent. */
  @Optional() @IsMacAddress() mac?: string;
  /** `down` unplugs the cable. */
  @Optional() @IsIn(['up', 'down']) link?: 'up' | 'down';
  /** The device of a CD or DVD drive of the VM, such as `sda`. */
  @Optional() @Matches(DEVICE, { message: DEVICE_RULE }) drive?: string;
  /** Devices of the VM, the first choice first. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(32)
  @ArrayUnique()
  @Matches(DEVICE, { each: true, message: DEVICE_RULE })
  devices?: string[];
  /** Whether the VM starts with its host. */
  @Optional() @IsBoolean() on?: boolean;
  /** Pins, NUMA nodes, hugepages. */
  @Optional() @Nested(() => PlacementDto) placement?: PlacementDto;
  /** A device as `GET /api/ext/host-resources` lists it, or the name that it has in the VM to take it back. */
  @Optional() @IsHostDeviceName() device?: string;
}

/** POST /api/ext/vms/{ns}/{name}/hardware */
export class HardwareChangesDto {
  /** Changes of different parts of the hardware. Their order has no meaning. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_HARDWARE_CHANGES)
  @Nested(() => HardwareChangeDto, { each: true })
  changes!: HardwareChangeDto[];
}

/** The query of several changes of the hardware. */
export class HardwareChangesQuery extends ChangeQuery {
  /**
   * Whether a running VM is stopped and started, once, for a new size or placement that it can't get while it runs;
   * otherwise that waits for its next start. Default false.
   */
  @Optional() @IsSwitch() restart?: 'true' | 'false';
}

/** A change that was carried out. */
export class AppliedHardwareChangeView {
  /** Its place in the request: the number of changes before it. */
  @IsInt() index!: number;
  /** Such as `add a disk of 10Gi`. */
  @IsString() action!: string;
  /** When it takes effect: `now`, `restart` or `next-start`. */
  @IsIn(HARDWARE_EFFECTS) effect!: HardwareEffect;
  /** The name of the volume that was created or attached. */
  @Optional() @IsString() pvc?: string;
}

/** The response to several changes of the hardware. */
export class HardwareChangesView extends HardwareChangeView {
  /** `ok`. */
  @IsString() status!: string;
  /** In the order in which they were carried out. Those that had nothing to change are left out. */
  @IsArray() @Nested(() => AppliedHardwareChangeView, { each: true }) changes!: AppliedHardwareChangeView[];
}

/** A change of a plan. */
export class PlannedHardwareChangeView {
  /** Its place in the request: the number of changes before it. */
  @IsInt() index!: number;
  /** Such as `add a disk of 10Gi`. */
  @IsString() action!: string;
  /** The present value of what it changes; empty for a device that is new. */
  @IsString() before!: string;
  /** The value after it; empty for a device that is removed. */
  @IsString() after!: string;
  /** `now`; `restart`: the VM is stopped and started for it; `next-start`: when it is started the next time. */
  @IsIn(HARDWARE_EFFECTS) effect!: HardwareEffect;
  /** Its steps; empty if there is nothing to change, or if it would be refused. */
  @IsArray() @Nested(() => PlanStepView, { each: true }) steps!: PlanStepView[];
  /** Consequences that the caller may not expect. */
  @IsArray() @IsString({ each: true }) warnings!: string[];
  /** The reasons why it would be refused. */
  @IsArray() @Nested(() => RefusalView, { each: true }) refusals!: RefusalView[];
}

/** The response to a dry run of several changes of the hardware. */
export class HardwareChangesPlanView extends PlanView {
  /** In the order in which they are carried out; empty if they exclude each other. */
  @IsArray() @Nested(() => PlannedHardwareChangeView, { each: true }) changes!: PlannedHardwareChangeView[];
  /** When the last of them takes effect. */
  @IsIn(HARDWARE_EFFECTS) effect!: HardwareEffect;
}

import { FIRMWARES, VM_STATUSES, type Firmware, type VmStatus } from '@headgate/domain-contracts';
import {
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsNotEmpty,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  IsContextName,
  IsDiskSize,
  IsDownloadUrl,
  IsImageReference,
  IsInstanceName,
  IsKubernetesName,
  IsVolumeName,
  IsMemorySize,
  IsTag,
  Nested,
  Optional,
} from './fields.js';
import { BusyView } from './busy.js';
import { UsageView } from './metrics.js';

/** A short ID of libosinfo. */
const OS_ID = /^[a-z0-9][a-z0-9.-]{0,62}$/;
const OS_RULE = '$property must be a short ID of libosinfo, such as debian12 or win11.';

/** POST /api/vms. Exactly one of containerDisk, image, import, iso, bootc and pvc must be set. */
export class CreateVmDto {
  @IsInstanceName() name!: string;
  @Optional() @IsInstanceName() namespace?: string;
  /** The context of the new VM; the first configured one by default. */
  @Optional() @IsContextName() context?: string;
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  @Optional() @IsMemorySize() mem?: string;
  @Optional() @IsDiskSize() disk?: string;

  @Optional() @IsImageReference() containerDisk?: string;
  @Optional() @IsString() @IsNotEmpty() @MaxLength(253) image?: string;
  @Optional() @IsDownloadUrl() import?: string;
  @Optional() @IsDownloadUrl() iso?: string;
  @Optional() @IsImageReference() bootc?: string;
  @Optional() @IsVolumeName() pvc?: string;

  @Optional() @IsString() @IsNotEmpty() @MaxLength(16_384) sshKey?: string;
  @Optional() @IsKubernetesName() node?: string;
  @Optional() @IsString() @MaxLength(262_144) cloudInit?: string;
  @Optional() @IsKubernetesName() instancetype?: string;
  @Optional() @IsKubernetesName() preference?: string;
  /**
   * The guest's operating system by its short ID in libosinfo, such as `debian12` or `win11`. It decides the virtual hardware
   * of a libvirt context; a KubeVirt context has preferences instead.
   */
  @Optional() @Matches(OS_ID, { message: OS_RULE }) os?: string;
  /** `uefi-secure` starts only signed boot loaders. By default what the guest needs, or else the backend's default. */
  @Optional() @IsIn(FIRMWARES) firmware?: Firmware;
  /** Whether it has an emulated TPM 2.0 with a persistent state. By default only if the guest needs one. */
  @Optional() @IsBoolean() tpm?: boolean;
  /** Whether it starts with its host. A cluster keeps every VM running that has been started. Default false. */
  @Optional() @IsBoolean() autostart?: boolean;
  /** Whether to start it when its disk is ready. Default false. */
  @Optional() @IsBoolean() start?: boolean;
}

/** An element of GET /api/vms/{ns}/{name}/events. */
export class InstanceEventView {
  @IsISO8601() time!: string;
  @IsIn(['Normal', 'Warning']) type!: 'Normal' | 'Warning';
  /** A word of the backend such as `Started`, or the action of this service. */
  @IsString() reason!: string;
  /** The object that it is about: `Kind/name`, or the ref of the instance. */
  @IsString() object!: string;
  @IsString() message!: string;
  /** `cluster`: the backend reported it. `service`: this service did it. */
  @IsIn(['cluster', 'service']) source!: 'cluster' | 'service';
  /** The login that asked for the action. */
  @Optional() @IsString() caller?: string;
}

/** POST /api/vms/{ns}/{name}/migrate */
export class MigrateVmDto {
  /** Empty or absent: the scheduler chooses among nodes with the same CPU vendor. */
  @Optional()
  @Matches(/^$|^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, { message: '$property must be the name of a node.' })
  @MaxLength(253)
  targetNode?: string;
}

/** POST /api/vms/{ns}/{name}/tags, and its response. */
export class TagDto {
  @IsTag() tag!: string;
  @IsBoolean() on!: boolean;
}

/** An element of GET /api/vms. */
export class VmView {
  @IsString() name!: string;
  @IsString() namespace!: string;
  @IsIn(VM_STATUSES) status!: VmStatus;
  @IsBoolean() ready!: boolean;
  @IsBoolean() running!: boolean;
  @IsInt() @Min(0) cpu!: number;
  /** Binary quantity. */
  @IsString() mem!: string;
  /** The boot disk's size, a binary quantity. */
  @IsString() disk!: string;
  /** Only while it runs. */
  @Optional() @IsString() ip?: string;
  /** Only while it runs. */
  @Optional() @IsString() node?: string;
  @IsArray() @IsString({ each: true }) @ArrayUnique() tags!: string[];

  @IsString() ref!: string;
  @IsString() context!: string;
  /** The kind of the backend. */
  @IsString() backend!: string;
  @IsBoolean() isTemplate!: boolean;
  @IsBoolean() liveMigratable!: boolean;
  @IsBoolean() agentConnected!: boolean;
  @IsBoolean() protected!: boolean;
  @IsBoolean() restartRequired!: boolean;
  /** True when the guest loses the changes of its boot disk at power-off: a container disk on a cluster. */
  @Optional() @IsBoolean() volatile?: boolean;
  /** One sentence, when the status is a problem. */
  @Optional() @IsString() reason?: string;
  /** The folder's whole path. */
  @Optional() @IsString() folder?: string;
  /** Only while a task changes it or needs it unchanged. */
  @Optional() @Nested(() => BusyView) busy?: BusyView;
  @Optional() @IsISO8601() createdAt?: string;
  /** True for the last known entries of a context that can't be reached. */
  @Optional() @IsBoolean() stale?: boolean;
  /** Only in a list with `?usage=true`, and absent while the instance is not measured. */
  @Optional() @Nested(() => UsageView) usage?: UsageView;
}

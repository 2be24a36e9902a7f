import { FIRMWARES, VM_STATUSES, type Firmware, type VmStatus } from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
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
  IsFolderPath,
  IsImageReference,
  IsInstanceName,
  IsKubernetesName,
  IsVolumeName,
  IsMemorySize,
  IsNetworkName,
  IsStorageName,
  IsTag,
  Nested,
  Optional,
} from './fields.js';
import { BusyView } from './busy.js';
import { UsageView } from './metrics.js';

/** A short ID of libosinfo. */
const OS_ID = /^[a-z0-9][a-z0-9.-]{0,62}$/;
const OS_RULE = '$property must be a short ID of libosinfo, such as debian12 or win11.';

/** More would be a mistake: a label of each is read with every list. */
const MAX_TAGS = 50;

/** POST /api/vms. Exactly one of containerDisk, image, import, iso, bootc and pvc must be set. */
export class CreateVmDto {
  /** The name of the new VM, unique in its namespace. */
  @IsInstanceName() name!: string;
  /** The namespace of the new VM. Default: that of the context, `tailvm` in a cluster. */
  @Optional() @IsInstanceName() namespace?: string;
  /** The context of the new VM; the first configured one by default. */
  @Optional() @IsContextName() context?: string;
  /** The number of CPUs. Default 2. */
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  /** The size of the memory. Default `4G`. */
  @Optional() @IsMemorySize() mem?: string;
  /** The size of the boot disk. Default `20G`. */
  @Optional() @IsDiskSize() disk?: string;

  /** A source: a container disk in a registry. */
  @Optional() @IsImageReference() containerDisk?: string;
  /** A source: the name of an image of GET /api/images. */
  @Optional() @IsString() @IsNotEmpty() @MaxLength(253) image?: string;
  /** A source: the URL of a qcow2 or raw disk to import. */
  @Optional() @IsDownloadUrl() import?: string;
  /** A source: the URL of an installation medium. */
  @Optional() @IsDownloadUrl() iso?: string;
  /** A source: a bootc image in a registry, of which a disk is built. Needs the bootc plugin. */
  @Optional() @IsImageReference() bootc?: string;
  /** A source: the name of an existing volume. */
  @Optional() @IsVolumeName() pvc?: string;

  /** The SSH public key that is built into the disk. Only with `bootc`. */
  @Optional() @IsString() @IsNotEmpty() @MaxLength(16_384) sshKey?: string;
  /** The node to run on. Default: the scheduler chooses one. */
  @Optional() @IsKubernetesName() node?: string;
  /** cloud-init user data, as YAML. */
  @Optional() @IsString() @MaxLength(262_144) cloudInit?: string;
  /** The name of an instancetype, which has the numbers of CPUs and the size of the memory. Only in a cluster. */
  @Optional() @IsKubernetesName() instancetype?: string;
  /** The name of a preference. Only in a cluster. */
  @Optional() @IsKubernetesName() preference?: string;
  /**
   * The guest's operating system by its short ID in libosinfo, such as `debian12` or `win11`. It decides the virtual
   * hardware of a libvirt context; a KubeVirt context has preferences instead.
   */
  @Optional() @Matches(OS_ID, { message: OS_RULE }) os?: string;
  /** `uefi-secure` starts only signed boot loaders. By default what the guest needs, or else the backend's default. */
  @Optional() @IsIn(FIRMWARES) firmware?: Firmware;
  /** Whether it has an emulated TPM 2.0 with a persistent state. By default only if the guest needs one. */
  @Optional() @IsBoolean() tpm?: boolean;
  /** Whether it starts with its host. A cluster keeps every VM running that has been started. Default false. */
  @Optional() @IsBoolean() autostart?: boolean;
  /**
   * The network of its card: a network attachment definition as `namespace/name`, or by its name in the namespace of
   * the VM; on libvirt a network. Default: the pod network, or the network of libvirt for new VMs.
   */
  @Optional() @IsNetworkName() network?: string;
  /** The storage class of its disks, or on libvirt the storage pool. Default: that of the context. */
  @Optional() @IsStorageName() storageClass?: string;
  /**
   * The whole path of the folder for the VM, which must exist, and in which the caller may change or create instances.
   * With a role in the folder, it is required, and the VM has neither `pvc` nor `bootc`. If it is removed meanwhile,
   * the VM is created without it, and the response has a warning.
   */
  @Optional() @IsFolderPath() folder?: string;
  /** Its tags from its first moment on. */
  @Optional() @IsArray() @ArrayMaxSize(MAX_TAGS) @ArrayUnique() @IsTag({ each: true }) tags?: string[];
  /** Whether to start it when its disk is ready. Default false. */
  @Optional() @IsBoolean() start?: boolean;
}

/** An element of GET /api/vms/{ns}/{name}/events. */
export class InstanceEventView {
  /** When it happened, in ISO 8601. */
  @IsISO8601() time!: string;
  /** Whether it is a problem. */
  @IsIn(['Normal', 'Warning']) type!: 'Normal' | 'Warning';
  /** A word of the backend such as `Started`, or the action of this service. */
  @IsString() reason!: string;
  /** The object that it is about: `Kind/name`, or the ref of the instance. */
  @IsString() object!: string;
  /** One sentence about the event. */
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
  /** The name of the tag, without the prefix of its label. */
  @IsTag() tag!: string;
  /** Whether the VM has the tag. */
  @IsBoolean() on!: boolean;
}

/** An element of GET /api/vms. */
export class VmView {
  /** The name, unique in its namespace. */
  @IsString() name!: string;
  /** The namespace. */
  @IsString() namespace!: string;
  /** The status, in the words of KubeVirt. */
  @IsIn(VM_STATUSES) status!: VmStatus;
  /** Whether the guest is ready. */
  @IsBoolean() ready!: boolean;
  /** Whether the guest exists: running, paused, migrating or shutting down. */
  @IsBoolean() running!: boolean;
  /** The number of CPUs. */
  @IsInt() @Min(0) cpu!: number;
  /** Binary quantity. */
  @IsString() mem!: string;
  /** The boot disk's size, a binary quantity. */
  @IsString() disk!: string;
  /** Only while it runs. */
  @Optional() @IsString() ip?: string;
  /** Only while it runs. */
  @Optional() @IsString() node?: string;
  /** Its tags. */
  @IsArray() @IsString({ each: true }) @ArrayUnique() tags!: string[];

  /** The ref: `vm/<context>/<namespace>/<name>`. */
  @IsString() ref!: string;
  /** The context that it belongs to. */
  @IsString() context!: string;
  /** The kind of the backend. */
  @IsString() backend!: string;
  /** Whether it is a template: it can be cloned but not started. */
  @IsBoolean() isTemplate!: boolean;
  /** Whether it can be migrated while it runs. */
  @IsBoolean() liveMigratable!: boolean;
  /** Whether the agent in the guest answers. */
  @IsBoolean() agentConnected!: boolean;
  /** Whether the backend's own protection flag prevents its deletion. */
  @IsBoolean() protected!: boolean;
  /** Whether a changed setting takes effect only at the next start. */
  @IsBoolean() restartRequired!: boolean;
  /** The number of settings whose new values take effect at the next start; absent when there are none. */
  @Optional() @IsInt() @Min(1) pendingCount?: number;
  /** True when the guest loses the changes of its boot disk at power-off: a container disk on a cluster. */
  @Optional() @IsBoolean() volatile?: boolean;
  /** One sentence, when the status is a problem. */
  @Optional() @IsString() reason?: string;
  /** The folder's whole path. */
  @Optional() @IsString() folder?: string;
  /** Only while a task changes it or needs it unchanged. */
  @Optional() @Nested(() => BusyView) busy?: BusyView;
  /** When it was created, in ISO 8601. */
  @Optional() @IsISO8601() createdAt?: string;
  /**
   * The operating system of the guest: as its agent reports it, such as `Debian 12`, or else as it was recorded at the
   * creation, a short ID of libosinfo such as `debian12`. Absent where neither is known.
   */
  @Optional() @IsString() os?: string;
  /**
   * When the guest was started, in ISO 8601; a reboot from inside does not count. Only while it runs. On libvirt only
   * if this service was connected at the start.
   */
  @Optional() @IsISO8601() startedAt?: string;
  /** True for the last known entries of a context that can't be reached. */
  @Optional() @IsBoolean() stale?: boolean;
  /** Only in a list with `?usage=true`, and absent while the instance is not measured. */
  @Optional() @Nested(() => UsageView) usage?: UsageView;
}

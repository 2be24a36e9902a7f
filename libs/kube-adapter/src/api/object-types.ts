import type { Condition, KubeObject } from './kube-object.js';

/** The fields of a VirtualMachine that this adapter reads. Source: https://kubevirt.io/api-reference/ */
export interface VmObject extends KubeObject {
  readonly spec?: {
    readonly runStrategy?: string;
    readonly running?: boolean;
    readonly instancetype?: Matcher;
    readonly preference?: Matcher;
    readonly dataVolumeTemplates?: readonly DataVolumeTemplate[];
    readonly updateVolumesStrategy?: string;
    readonly template?: { readonly spec?: GuestSpec };
  };
  readonly status?: {
    readonly printableStatus?: string;
    readonly ready?: boolean;
    readonly created?: boolean;
    /** The generation that KubeVirt has processed last. */
    readonly desiredGeneration?: number;
    /** Requests of the action endpoints that are not done yet. */
    readonly stateChangeRequests?: readonly { readonly action: 'Start' | 'Stop' }[];
    /** Requests to add or remove volumes that are not done yet. */
    readonly volumeRequests?: readonly {
      readonly addVolumeOptions?: { readonly name?: string };
      readonly removeVolumeOptions?: { readonly name?: string };
    }[];
    readonly snapshotInProgress?: string;
    readonly restoreInProgress?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface Matcher {
  readonly name?: string;
  readonly kind?: string;
}

export interface DataVolumeTemplate extends KubeObject {
  readonly spec?: {
    readonly storage?: StorageRequest;
    readonly pvc?: StorageRequest;
    readonly source?: DataVolumeSource;
  };
}

/** Exactly one of them is set. */
export interface DataVolumeSource {
  readonly http?: { readonly url?: string; readonly checksum?: string };
  readonly registry?: { readonly url?: string };
  readonly s3?: { readonly url?: string };
  readonly gcs?: { readonly url?: string };
  readonly upload?: unknown;
  readonly blank?: unknown;
  readonly pvc?: { readonly namespace?: string; readonly name?: string };
  readonly snapshot?: { readonly namespace?: string; readonly name?: string };
}

interface StorageRequest {
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

export interface CpuTopology {
  readonly cores?: number;
  readonly sockets?: number;
  readonly threads?: number;
  readonly maxSockets?: number;
}

/** The placement of CPUs, which only the specs of VMs have. */
export interface GuestCpu extends CpuTopology {
  readonly model?: string;
  readonly features?: readonly { readonly name: string; readonly policy?: string }[];
  readonly dedicatedCpuPlacement?: boolean;
  readonly isolateEmulatorThread?: boolean;
  readonly numa?: { readonly guestMappingPassthrough?: object };
}

/** A device of a node, by the name of its resource. */
export interface PassedThroughDevice {
  readonly name: string;
  readonly deviceName?: string;
}

export interface GuestSpec {
  readonly domain?: {
    readonly cpu?: GuestCpu;
    readonly machine?: { readonly type?: string };
    readonly memory?: {
      readonly guest?: string;
      readonly maxGuest?: string;
      readonly hugepages?: { readonly pageSize?: string };
    };
    readonly resources?: {
      readonly requests?: { readonly cpu?: string | number; readonly memory?: string };
      readonly limits?: { readonly cpu?: string | number; readonly memory?: string };
    };
    readonly devices?: {
      readonly disks?: readonly GuestDisk[];
      readonly interfaces?: readonly GuestInterface[];
      readonly filesystems?: readonly { readonly name: string }[];
      readonly gpus?: readonly PassedThroughDevice[];
      readonly hostDevices?: readonly PassedThroughDevice[];
    };
  };
  readonly networks?: readonly GuestNetwork[];
  readonly architecture?: string;
  readonly evictionStrategy?: string;
  readonly volumes?: readonly GuestVolume[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Rules about nodes and other pods, which this adapter does not evaluate. */
  readonly affinity?: object;
  readonly tolerations?: readonly object[];
  readonly topologySpreadConstraints?: readonly object[];
}

export interface GuestDisk {
  readonly name: string;
  readonly bootOrder?: number;
  readonly disk?: { readonly bus?: string };
  readonly cdrom?: { readonly bus?: string };
  readonly lun?: { readonly bus?: string };
  readonly serial?: string;
  readonly shareable?: boolean;
}

export interface GuestInterface {
  readonly name: string;
  readonly model?: string;
  readonly macAddress?: string;
  readonly bootOrder?: number;
  readonly state?: string;
  readonly bridge?: unknown;
  readonly masquerade?: unknown;
}

export interface GuestNetwork {
  readonly name: string;
  readonly pod?: unknown;
  readonly multus?: { readonly networkName?: string };
}

export interface GuestVolume {
  readonly name: string;
  readonly dataVolume?: { readonly name: string; readonly hotpluggable?: boolean };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly hotpluggable?: boolean };
  readonly containerDisk?: { readonly image: string };
  readonly cloudInitNoCloud?: { readonly secretRef?: { readonly name?: string } };
  readonly ephemeral?: unknown;
  readonly emptyDisk?: { readonly capacity?: string };
  readonly hostDisk?: { readonly path?: string };
}

/** The fields of a VirtualMachineInstance that this adapter reads. Source: https://kubevirt.io/api-reference/ */
/** What the agent in a guest reports about its operating system. */
export interface GuestOsInfo {
  readonly name?: string;
  readonly version?: string;
  readonly versionId?: string;
  readonly prettyName?: string;
}

export interface VmiObject extends KubeObject {
  readonly spec?: GuestSpec;
  readonly status?: {
    readonly phase?: string;
    readonly nodeName?: string;
    readonly conditions?: readonly Condition[];
    readonly interfaces?: readonly { readonly name?: string; readonly ipAddress?: string; readonly mac?: string }[];
    readonly volumeStatus?: readonly VolumeStatus[];
    /** The disks that the next migration copies to other claims, or the running one. */
    readonly migratedVolumes?: readonly { readonly volumeName?: string }[];
    readonly currentCPUTopology?: CpuTopology;
    /** The machine of the running guest. Its spec may name an alias. */
    readonly machine?: { readonly type?: string };
    readonly guestOSInfo?: GuestOsInfo;
    readonly phaseTransitionTimestamps?: readonly {
      readonly phase?: string;
      readonly phaseTransitionTimestamp?: string;
    }[];
    readonly memory?: { readonly guestCurrent?: string; readonly guestAtBoot?: string };
    readonly migrationState?: {
      readonly completed?: boolean;
      readonly failed?: boolean;
      readonly startTimestamp?: string;
      readonly targetNode?: string;
      readonly failureReason?: string;
    };
  };
}

export interface VolumeStatus {
  readonly name: string;
  readonly phase?: string;
  /** Exists for hot-plugged disks. */
  readonly hotplugVolume?: object;
  readonly persistentVolumeClaimInfo?: { readonly claimName?: string; readonly accessModes?: readonly string[] };
}

export interface ClaimObject extends KubeObject {
  readonly spec?: {
    readonly resources?: { readonly requests?: { readonly storage?: string } };
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly dataSourceRef?: unknown;
  };
  readonly status?: { readonly phase?: string; readonly capacity?: { readonly storage?: string } };
}

export interface PodObject extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly containers?: readonly {
      readonly name: string;
      readonly image?: string;
      readonly securityContext?: { readonly privileged?: boolean };
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerState[];
    readonly initContainerStatuses?: readonly ContainerState[];
  };
}

export interface ContainerState {
  readonly name?: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string };
  };
}

/** The fields of a Job that this adapter reads. */
export interface JobObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** The fields of an Event that this adapter reads from those of a Job. */
export interface EventObject extends KubeObject {
  readonly reason?: string;
  readonly message?: string;
}

/** The fields of a DataVolume that this adapter reads. Source: CDI's doc/datavolumes.md */
export interface DataVolumeObject extends KubeObject {
  readonly spec?: {
    readonly storage?: StorageRequest;
    readonly pvc?: StorageRequest;
    readonly source?: DataVolumeSource;
  };
  readonly status?: {
    readonly phase?: string;
    readonly progress?: string;
    readonly restartCount?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface MigrationObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly migrationState?: {
      readonly targetNode?: string;
      readonly failureReason?: string;
    };
  };
}

export interface NodeTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly NodeTaint[] };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly nodeInfo?: { readonly kubeletVersion?: string; readonly architecture?: string };
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
  };
}

export interface InstancetypeObject extends KubeObject {
  readonly spec?: { readonly cpu?: { readonly guest?: number }; readonly memory?: { readonly guest?: string } };
}

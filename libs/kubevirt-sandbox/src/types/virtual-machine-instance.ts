import type { KubeObject } from '@headgate/kube-sandbox';
import type { Condition } from './condition.js';

export interface Disk {
  name: string;
  disk?: { bus?: string };
  cdrom?: { bus?: string };
  lun?: { bus?: string };
  bootOrder?: number;
  serial?: string;
  shareable?: boolean;
}

export interface NetworkInterface {
  name: string;
  masquerade?: object;
  bridge?: object;
  sriov?: object;
  binding?: { name: string };
  macvtap?: object;
  passt?: object;
  passtBinding?: object;
  slirp?: object;
  model?: string;
  macAddress?: string;
  state?: string;
}

export interface Network {
  name: string;
  pod?: object;
  multus?: { networkName: string; default?: boolean };
}

export interface CloudInitSource {
  userData?: string;
  userDataBase64?: string;
  secretRef?: { name: string };
  networkData?: string;
  networkDataBase64?: string;
  networkDataSecretRef?: { name: string };
}

export interface Volume {
  name: string;
  containerDisk?: { image: string; imagePullPolicy?: string };
  dataVolume?: { name: string; hotpluggable?: boolean };
  persistentVolumeClaim?: { claimName: string; hotpluggable?: boolean; readOnly?: boolean };
  cloudInitNoCloud?: CloudInitSource;
  cloudInitConfigDrive?: CloudInitSource;
  emptyDisk?: { capacity: string };
  ephemeral?: { persistentVolumeClaim?: { claimName: string } };
  hostDisk?: object;
}

export interface CpuTopology {
  cores?: number;
  sockets?: number;
  threads?: number;
  maxSockets?: number;
  model?: string;
  features?: { name: string; policy?: string }[];
  dedicatedCpuPlacement?: boolean;
  isolateEmulatorThread?: boolean;
  numa?: { guestMappingPassthrough?: object };
}

/** A device of a node, by the name of its resource. */
export interface PassedThroughDevice {
  name: string;
  deviceName?: string;
  claimName?: string;
}

export interface Domain {
  cpu?: CpuTopology;
  memory?: { guest?: string; maxGuest?: string; hugepages?: { pageSize?: string } };
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  machine?: { type?: string };
  firmware?: { uuid?: string; serial?: string };
  features?: Record<string, unknown>;
  devices: {
    disks?: Disk[];
    interfaces?: NetworkInterface[];
    autoattachGraphicsDevice?: boolean;
    autoattachSerialConsole?: boolean;
    autoattachPodInterface?: boolean;
    filesystems?: { name: string }[];
    hostDevices?: PassedThroughDevice[];
    gpus?: PassedThroughDevice[];
    [device: string]: unknown;
  };
}

export interface VmiSpec {
  domain: Domain;
  volumes?: Volume[];
  networks?: Network[];
  nodeSelector?: Record<string, string>;
  affinity?: unknown;
  tolerations?: unknown[];
  architecture?: string;
  hostname?: string;
  startStrategy?: string;
  evictionStrategy?: string;
  terminationGracePeriodSeconds?: number;
  livenessProbe?: { guestAgentPing?: object };
  accessCredentials?: { sshPublicKey?: { propagationMethod?: Record<string, object> } }[];
}

export type VmiPhase = '' | 'Pending' | 'Scheduling' | 'Scheduled' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** A volume whose disk is copied to another claim by a migration. */
export interface MigratedVolume {
  volumeName: string;
  sourcePVCInfo: MigratedClaim;
  destinationPVCInfo: MigratedClaim;
}

export interface MigratedClaim {
  claimName: string;
  volumeMode?: string;
}

export interface VolumeStatus {
  name: string;
  target: string;
  phase?: string;
  reason?: string;
  message?: string;
  size?: number;
  persistentVolumeClaimInfo?: {
    claimName: string;
    accessModes?: string[];
    volumeMode?: string;
    capacity?: Record<string, string>;
    requests?: Record<string, string>;
    filesystemOverhead?: string;
  };
  hotplugVolume?: { attachPodName?: string; attachPodUID?: string };
}

export interface InterfaceStatus {
  name?: string;
  ipAddress?: string;
  ipAddresses?: string[];
  mac?: string;
  interfaceName?: string;
  podInterfaceName?: string;
  infoSource?: string;
  queueCount?: number;
  linkState?: string;
}

export interface MigrationState {
  migrationUid?: string;
  sourceNode?: string;
  targetNode?: string;
  sourcePod?: string;
  targetPod?: string;
  /** The attachment pod of the hot-plugged volumes. */
  targetAttachmentPodUID?: string;
  startTimestamp?: string;
  endTimestamp?: string;
  completed?: boolean;
  failed?: boolean;
  failureReason?: string;
  abortRequested?: boolean;
  abortStatus?: string;
  mode?: string;
}

export interface VmiStatus {
  phase?: VmiPhase;
  nodeName?: string;
  conditions?: Condition[];
  interfaces?: InterfaceStatus[];
  volumeStatus?: VolumeStatus[];
  guestOSInfo?: Record<string, string>;
  migrationState?: MigrationState;
  migrationMethod?: string;
  migrationTransport?: string;
  currentCPUTopology?: CpuTopology;
  memory?: { guestAtBoot?: string; guestCurrent?: string; guestRequested?: string; memoryOverhead?: string };
  machine?: { type: string };
  qosClass?: string;
  runtimeUser?: number;
  reason?: string;
  activePods?: Record<string, string>;
  launcherContainerImageVersion?: string;
  virtualMachineRevisionName?: string;
  phaseTransitionTimestamps?: { phase: string; phaseTransitionTimestamp: string }[];
  /** The node that the VMI has to leave after an eviction of its pod. */
  evacuationNodeName?: string;
  fsFreezeStatus?: string;
  /** The disks that the next migration copies, or the running one. */
  migratedVolumes?: MigratedVolume[];
}

export interface VirtualMachineInstance extends KubeObject {
  spec: VmiSpec;
  status?: VmiStatus;
}

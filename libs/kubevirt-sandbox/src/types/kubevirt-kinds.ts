import type { KubeObject } from '@headgate/kube-sandbox';
import type { Condition } from './condition.js';
import type { PersistentVolumeClaim } from './core-kinds.js';
import type { MigrationState } from './virtual-machine-instance.js';
import type { VirtualMachine } from './virtual-machine.js';

export interface Migration extends KubeObject {
  spec: { vmiName: string; addedNodeSelector?: Record<string, string> };
  status?: {
    phase?: string;
    conditions?: Condition[];
    migrationState?: MigrationState;
    phaseTransitionTimestamps?: { phase: string; phaseTransitionTimestamp: string }[];
  };
}

export interface Instancetype extends KubeObject {
  spec: { cpu: { guest: number; maxSockets?: number }; memory: { guest: string; maxGuest?: string } };
}

export interface Preference extends KubeObject {
  spec: {
    devices?: { preferredDiskBus?: string; preferredInterfaceModel?: string };
    requirements?: { cpu?: { guest: number }; memory?: { guest: string } };
    preferredTerminationGracePeriodSeconds?: number;
  };
}

/** The devices that VMs may have, with the names of the resources by which they are requested. */
export interface PermittedHostDevices {
  pciHostDevices?: { pciVendorSelector: string; resourceName: string; externalResourceProvider?: boolean }[];
  mediatedDevices?: { mdevNameSelector: string; resourceName: string; externalResourceProvider?: boolean }[];
  usb?: { resourceName: string; selectors?: { vendor: string; product: string }[] }[];
}

export interface KubeVirt extends KubeObject {
  spec: {
    configuration?: {
      /** A factor, as text. */
      additionalGuestMemoryOverheadRatio?: string;
      evictionStrategy?: string;
      network?: { permitBridgeInterfaceOnPodNetwork?: boolean };
      permittedHostDevices?: PermittedHostDevices;
      vmRolloutStrategy?: string;
      developerConfiguration?: { featureGates?: string[]; disabledFeatureGates?: string[]; useEmulation?: boolean };
      liveUpdateConfiguration?: { maxHotplugRatio?: number };
      migrations?: { parallelMigrationsPerCluster?: number; parallelOutboundMigrationsPerNode?: number };
    };
    workloadUpdateStrategy?: { workloadUpdateMethods?: string[] };
  };
}

export interface TypedReference {
  apiGroup?: string;
  kind: string;
  name: string;
}

export interface VmSnapshot extends KubeObject {
  spec: { source: TypedReference; deletionPolicy?: string; failureDeadline?: string };
  status?: {
    phase?: string;
    readyToUse?: boolean;
    creationTime?: string;
    sourceUID?: string;
    virtualMachineSnapshotContentName?: string;
    indications?: string[];
    conditions?: Condition[];
    error?: { message: string; time: string };
    snapshotVolumes?: { includedVolumes?: string[]; excludedVolumes?: string[] };
  };
}

export interface VolumeBackup {
  volumeName: string;
  persistentVolumeClaim: PersistentVolumeClaim;
  volumeSnapshotName?: string;
}

export interface VmSnapshotContent extends KubeObject {
  spec: {
    source: { virtualMachine: VirtualMachine };
    virtualMachineSnapshotName: string;
    volumeBackups?: VolumeBackup[];
  };
  status?: { readyToUse?: boolean; creationTime?: string; volumeSnapshotStatus?: object[] };
}

export interface VmRestore extends KubeObject {
  spec: {
    target: TypedReference;
    virtualMachineSnapshotName: string;
    targetReadinessPolicy?: 'StopTarget' | 'WaitGracePeriod' | 'FailImmediate' | 'WaitEventually';
    volumeRestorePolicy?: 'RandomizeNames' | 'InPlace' | 'PrefixTargetName';
    volumeOwnershipPolicy?: 'Vm' | 'None';
    volumeRestoreOverrides?: VolumeRestoreOverride[];
    /** Operations of JSON patches, each as JSON. */
    patches?: string[];
  };
  status?: {
    complete?: boolean;
    restoreTime?: string;
    conditions?: Condition[];
    restores?: { volumeName: string; persistentVolumeClaim: string; volumeSnapshotName: string }[];
    deletedDataVolumes?: string[];
  };
}

export interface VolumeRestoreOverride {
  volumeName?: string;
  restoreName?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface VmClone extends KubeObject {
  spec: {
    source: TypedReference;
    target?: TypedReference;
    newMacAddresses?: Record<string, string>;
    newSMBiosSerial?: string;
    labelFilters?: string[];
    annotationFilters?: string[];
    template?: { labelFilters?: string[]; annotationFilters?: string[] };
    /** Operations of JSON patches, each as JSON. */
    patches?: string[];
    volumeNamePolicy?: 'RandomizeNames' | 'PrefixTargetName';
  };
  status?: {
    phase?: string;
    snapshotName?: string;
    restoreName?: string;
    targetName?: string;
    creationTime?: string;
    conditions?: Condition[];
  };
}

export interface VmExport extends KubeObject {
  spec: { source: TypedReference; tokenSecretRef?: string; ttlDuration?: string };
  status?: {
    phase?: string;
    conditions?: Condition[];
    links?: { internal?: ExportLink; external?: ExportLink };
    serviceName?: string;
    tokenSecretRef?: string;
    ttlExpirationTime?: string;
    virtualMachineName?: string;
  };
}

export interface ExportLink {
  cert: string;
  volumes: { name: string; formats: { format: string; url: string }[] }[];
  manifests?: { type: string; url: string }[];
}

export interface VolumeSnapshot extends KubeObject {
  spec: {
    source: { persistentVolumeClaimName?: string; volumeSnapshotContentName?: string };
    volumeSnapshotClassName?: string;
  };
  status?: {
    readyToUse?: boolean;
    creationTime?: string;
    restoreSize?: string;
    boundVolumeSnapshotContentName?: string;
    error?: { message: string; time: string };
  };
}

export interface VolumeSnapshotClass extends KubeObject {
  driver: string;
  deletionPolicy: string;
}

export interface StorageProfile extends KubeObject {
  spec: Record<string, unknown>;
  status?: {
    claimPropertySets?: { accessModes?: string[]; volumeMode?: string }[];
    cloneStrategy?: string;
    provisioner?: string;
    snapshotClass?: string;
    storageClass?: string;
  };
}

export interface CdiConfig extends KubeObject {
  status?: { filesystemOverhead?: { global?: string; storageClass?: Record<string, string> }; uploadProxyURL?: string };
}

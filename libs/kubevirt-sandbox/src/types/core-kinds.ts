import type { KubeObject } from '@headgate/kube-sandbox';
import type { Condition } from './condition.js';
import type { ClaimRequest } from './data-volume.js';

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[];
  volumeDevices?: { name: string; devicePath: string }[];
  securityContext?: { privileged?: boolean };
  tty?: boolean;
  /** Always makes an init container a sidecar. */
  restartPolicy?: string;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: unknown;
  tolerations?: unknown[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  volumes?: {
    name: string;
    persistentVolumeClaim?: { claimName: string };
    secret?: { secretName?: string; optional?: boolean };
    [source: string]: unknown;
  }[];
  hostname?: string;
  readinessGates?: { conditionType: string }[];
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: {
    exitCode: number;
    reason: string;
    message?: string;
    startedAt?: string;
    finishedAt?: string;
    containerID?: string;
  };
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  ready: boolean;
  started?: boolean;
  restartCount: number;
  state: ContainerState;
  lastState: ContainerState;
}

export interface PodStatus {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  startTime?: string;
  qosClass?: string;
  reason?: string;
  message?: string;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[]; podCIDR?: string };
  status?: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: Record<string, string>;
  };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec: ClaimRequest;
  status?: {
    phase?: 'Pending' | 'Bound' | 'Lost';
    accessModes?: string[];
    capacity?: Record<string, string>;
    conditions?: Condition[];
    allocatedResources?: Record<string, string>;
    allocatedResourceStatuses?: Record<string, string>;
  };
}

export interface PersistentVolume extends KubeObject {
  spec: Record<string, unknown>;
  status?: { phase?: string };
}

export interface StorageClass extends KubeObject {
  provisioner: string;
  volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
  allowVolumeExpansion?: boolean;
  reclaimPolicy?: string;
}

export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

export interface ControllerRevision extends KubeObject {
  data: object;
  revision: number;
}

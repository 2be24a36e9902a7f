/**
 * KubeVirt's printable statuses; other engines are mapped to the same words.
 * Source: https://pkg.go.dev/kubevirt.io/api/core/v1#VirtualMachinePrintableStatus
 */
export const VM_STATUSES = [
  'Stopped',
  'Provisioning',
  'Starting',
  'Running',
  'Paused',
  'Stopping',
  'Terminating',
  'CrashLoopBackOff',
  'Migrating',
  'Unknown',
  'ErrorUnschedulable',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrorPvcNotFound',
  'DataVolumeError',
  'WaitingForVolumeBinding',
  'WaitingForReceiver',
] as const;
export type VmStatus = (typeof VM_STATUSES)[number];

/** A pod's phase, or `Stopped` when the container has no pod. */
export const CONTAINER_PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown', 'Stopped'] as const;
export type ContainerPhase = (typeof CONTAINER_PHASES)[number];

const RUNNING: ReadonlySet<VmStatus> = new Set(['Running', 'Paused', 'Migrating', 'Stopping']);

/** Whether the guest exists: running, paused, migrating or shutting down. */
export const isRunningStatus = (status: VmStatus): boolean => RUNNING.has(status);

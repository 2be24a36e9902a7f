import type { BackendKindName } from './backend-traits.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { ContainerPhase, VmStatus } from './instance-status.js';

interface InstanceBase {
  readonly ref: InstanceRef;
  readonly backend: BackendKindName;
  /** The backend's ID of this object; different after it was deleted and created again under the same name. */
  readonly uid: string;
  readonly ready: boolean;
  /** Whole virtual CPUs. */
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly node?: string;
  /** Sorted, without the label's prefix. */
  readonly tags: readonly string[];
  /** ISO 8601. */
  readonly createdAt?: string;
  /** One sentence, when the state is a problem. */
  readonly reason?: string;
}

export interface VirtualMachine extends InstanceBase {
  readonly ref: InstanceRef & { readonly kind: 'vm' };
  readonly status: VmStatus;
  /** The boot disk's size. */
  readonly diskBytes: number;
  /** Known only while the guest runs. */
  readonly ip?: string;
  readonly isTemplate: boolean;
  readonly liveMigratable: boolean;
  readonly agentConnected: boolean;
  /** The backend's own protection flag prevents its deletion. */
  readonly protected: boolean;
  readonly restartRequired: boolean;
  /** The number of settings whose new values take effect at the next start. Absent when there are none. */
  readonly pendingCount?: number;
  /**
   * The operating system of the guest: as its agent reports it, such as `Debian 12`, or else as it was recorded at the
   * creation, a short ID of libosinfo. Absent where neither is known.
   */
  readonly os?: string;
  /**
   * When the guest was started, in ISO 8601; a reboot from inside does not count. Only while it runs, and only where
   * the backend reports it.
   */
  readonly startedAt?: string;
  /** Present when the guest loses the changes of its boot disk at power-off. */
  readonly volatile?: true;
}

export interface Container extends InstanceBase {
  readonly ref: InstanceRef & { readonly kind: 'ct' };
  readonly phase: ContainerPhase;
  readonly image: string;
  readonly privileged: boolean;
}

/** A VM or a container. */
export type Instance = VirtualMachine | Container;

export const isVm = (instance: Instance): instance is VirtualMachine => instance.ref.kind === 'vm';
export const isContainer = (instance: Instance): instance is Container => instance.ref.kind === 'ct';

import type { InstanceRef } from '../values/instance-ref.js';
import type { Firmware } from '../model/firmware.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';
import type { CatalogEntry } from './image-catalog.port.js';

export const VM_SOURCES = ['containerDisk', 'image', 'import', 'iso', 'bootc', 'pvc'] as const;
export type VmSourceKind = (typeof VM_SOURCES)[number];

/** The source of a new VM's boot disk. */
export type VmSource =
  | { readonly kind: 'containerDisk'; readonly image: string }
  | { readonly kind: 'image'; readonly entry: CatalogEntry }
  | { readonly kind: 'import'; readonly url: string }
  | { readonly kind: 'iso'; readonly url: string }
  | {
      readonly kind: 'bootc';
      readonly image: string;
      readonly sshKey?: string;
      /** The raw disk that was built from the image, a file on this machine. Absent in a plan. */
      readonly disk?: string;
      /** Where the disk is built: by default on the machine of the service, or in the context of the VM. */
      readonly builder?: 'service' | 'context';
      /** The volume of the context that was built. Absent in a plan. */
      readonly volume?: string;
    }
  | { readonly kind: 'pvc'; readonly claim: string };

export interface VmSpec {
  readonly ref: InstanceRef;
  /** A UUID with which an interrupted creation is found again. Chosen by the backend when absent. */
  readonly creation?: string;
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly source: VmSource;
  /** cloud-init user data. A secret: never logged, never in a process list. */
  readonly cloudInit?: string;
  readonly node?: string;
  readonly instancetype?: string;
  readonly preference?: string;
  /** The guest's operating system by its short ID in libosinfo, such as `debian12` or `win11`. */
  readonly os?: string;
  /** Chosen by the backend when absent. */
  readonly firmware?: Firmware;
  /** Whether it has an emulated TPM 2.0 with a persistent state. Chosen by the backend when absent. */
  readonly tpm?: boolean;
  /** Whether it is started with its host. */
  readonly autostart?: boolean;
  /**
   * The network of its card: of libvirt, or a network attachment definition as `namespace/name` or by its name in the
   * namespace of the VM. Default: what the backend gives a new VM, the pod network in a cluster.
   */
  readonly network?: string;
  /** The storage class, or on libvirt the storage pool, of its disks. Chosen by the backend when absent. */
  readonly storageClass?: string;
  /** It has them from its first moment on. Each only once. */
  readonly tags?: readonly string[];
  /** Whether to start it once its disk is ready. */
  readonly start: boolean;
}

export interface Creation {
  /**
   * Present when the disk is filled after the VM was accepted: run it as a task. A VM whose disk could not be filled
   * stays, with a reason.
   */
  readonly remaining?: BackgroundWork;
  /** Parts of the request that the VM lacks, one sentence each. */
  readonly warnings?: readonly string[];
}

/** `incomplete`: the VM exists, but its creation was interrupted before it had all that was ordered. */
export type CreationState = 'absent' | 'incomplete' | 'complete';

/** Creates VMs, and deletes them with everything that belongs to them and nothing else. */
export abstract class InstanceProvisioning {
  /** The sources that this backend supports; a text is the reason why one is not supported. */
  abstract sources(): Readonly<Record<VmSourceKind, true | string>>;

  /** Changes nothing. The plan contains every refusal that the backend can foresee. */
  abstract planCreate(spec: VmSpec): Promise<Plan>;

  /**
   * A failure leaves nothing incomplete behind.
   * @throws DomainError ALREADY_EXISTS, VOLUME_NOT_FOUND, NODE_NOT_FOUND, NOT_SUPPORTED, REJECTED_BY_BACKEND,
   *   INSUFFICIENT_STORAGE, BACKEND_UNREACHABLE
   */
  abstract create(spec: VmSpec): Promise<Creation>;

  /**
   * The VM of a creation that was interrupted. A VM of the same name from another creation counts as absent.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract creationState(ref: InstanceRef, creation: string): Promise<CreationState>;

  /**
   * Removes the incomplete VM of that creation with everything that belongs to it. Does nothing if it is complete or
   * absent.
   */
  abstract discardCreation(ref: InstanceRef, creation: string): Promise<void>;

  abstract planDelete(ref: InstanceRef): Promise<Plan>;

  /** @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  abstract delete(ref: InstanceRef): Promise<void>;

  /** Adds or removes a tag; no error if there is nothing to change. */
  abstract setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void>;

  /**
   * Protects a VM from deletion by the backend's own flag, or removes the protection; no error if there is nothing to
   * change.
   */
  abstract setProtection(ref: InstanceRef, on: boolean): Promise<void>;
}

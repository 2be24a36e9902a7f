import type { InstanceRef } from '../values/instance-ref.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';
import type { CatalogEntry } from './image-catalog.port.js';

export const VM_SOURCES = ['containerDisk', 'image', 'import', 'iso', 'bootc', 'pvc'] as const;
export type VmSourceKind = (typeof VM_SOURCES)[number];

/** Where a new VM's boot disk comes from. */
export type VmSource =
  | { readonly kind: 'containerDisk'; readonly image: string }
  | { readonly kind: 'image'; readonly entry: CatalogEntry }
  | { readonly kind: 'import'; readonly url: string }
  | { readonly kind: 'iso'; readonly url: string }
  | { readonly kind: 'bootc'; readonly image: string; readonly sshKey?: string }
  | { readonly kind: 'pvc'; readonly claim: string };

export interface VmSpec {
  readonly ref: InstanceRef;
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly source: VmSource;
  /** cloud-init user data. A secret: never logged, never in a process list. */
  readonly cloudInit?: string;
  readonly node?: string;
  readonly instancetype?: string;
  readonly preference?: string;
  /** Whether it is started as soon as its disk is there. */
  readonly start: boolean;
}

export interface Creation {
  /** Present when the disk is filled after the VM was accepted: run it as a task. A VM whose disk could not be filled stays, with a reason. */
  readonly remaining?: BackgroundWork;
}

/** Makes VMs and removes them with everything that belongs to them, and nothing that does not. */
export abstract class InstanceProvisioning {
  /** The sources that this backend can create from; a text says why it can't. */
  abstract sources(): Readonly<Record<VmSourceKind, true | string>>;

  /** Changes nothing. Refusals that the backend can foresee are in the plan, all of them. */
  abstract planCreate(spec: VmSpec): Promise<Plan>;

  /**
   * A failure leaves nothing half-made.
   * @throws DomainError ALREADY_EXISTS, VOLUME_NOT_FOUND, NODE_NOT_FOUND, NOT_SUPPORTED, REJECTED_BY_BACKEND, INSUFFICIENT_STORAGE, BACKEND_UNREACHABLE
   */
  abstract create(spec: VmSpec): Promise<Creation>;

  abstract planDelete(ref: InstanceRef): Promise<Plan>;

  /** @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  abstract delete(ref: InstanceRef): Promise<void>;

  /** Adds or removes a tag; doing what is done already is no error. */
  abstract setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void>;
}

import type { InstanceRef } from '../values/instance-ref.js';
import type { Plan } from '../model/plan.js';

export interface ContainerSpec {
  readonly ref: InstanceRef;
  readonly image: string;
  readonly cpu: number;
  readonly memoryBytes: number;
  /** Size of the data volume. */
  readonly diskBytes: number;
  /** Empty: the cluster's default. */
  readonly storageClass: string;
  readonly privileged: boolean;
}

/** Plain long-lived containers with a persistent data volume, which is their durable identity. */
export abstract class Containers {
  abstract planCreate(spec: ContainerSpec): Promise<Plan>;
  /** @throws DomainError ALREADY_EXISTS, REJECTED_BY_BACKEND */
  abstract create(spec: ContainerSpec): Promise<void>;
  /** Makes the pod again from the recorded spec; no error when it is there. */
  abstract start(ref: InstanceRef): Promise<void>;
  /** Removes the pod and keeps the data volume; no error when there is none. */
  abstract stop(ref: InstanceRef): Promise<void>;
  abstract planDelete(ref: InstanceRef): Promise<Plan>;
  abstract delete(ref: InstanceRef): Promise<void>;
}

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

/** Plain long-lived containers. Their persistent data volume is their durable identity. */
export abstract class Containers {
  abstract planCreate(spec: ContainerSpec): Promise<Plan>;
  /** @throws DomainError ALREADY_EXISTS, REJECTED_BY_BACKEND */
  abstract create(spec: ContainerSpec): Promise<void>;
  /** Creates the pod from the recorded spec; no error if it exists. */
  abstract start(ref: InstanceRef): Promise<void>;
  /** Deletes the pod and keeps the data volume; no error if there is no pod. */
  abstract stop(ref: InstanceRef): Promise<void>;
  /**
   * Adds or removes a tag, which stays when the container is stopped; no error if there is nothing to change.
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  abstract setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void>;
  abstract planDelete(ref: InstanceRef): Promise<Plan>;
  abstract delete(ref: InstanceRef): Promise<void>;
}

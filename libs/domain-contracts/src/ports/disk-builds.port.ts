import type { Plan } from '../model/plan.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { BuildContainer, BuildReport, DiskBuildRequest, FollowedBuild } from './disk-builder.port.js';

/** A disk that is built where its VM will run. */
export interface DiskBuild {
  /** ID of the task: the objects of the build are found by it after a restart. */
  readonly id: string;
  /** The VM that will get the disk. */
  readonly ref: InstanceRef;
  readonly request: DiskBuildRequest;
  /** The node of the VM, if it must run on a certain one. */
  readonly node?: string;
  /** The storage class of the volume. Chosen by the backend when absent. */
  readonly storageClass?: string;
}

/** An empty volume for a disk. */
export interface BuildVolume {
  readonly name: string;
  /** Whether the container gets a block device instead of a file. */
  readonly isBlockDevice: boolean;
}

/**
 * Builds disks where their VMs run. A build runs without the service: after a restart, `install` with the same ID
 * follows it to its end instead of building again. `remove` leaves nothing of it except the disk of an existing VM.
 */
export abstract class DiskBuilds {
  /** Changes nothing. The plan contains every refusal that the backend can foresee, with its remedy. */
  abstract plan(build: DiskBuild, container: BuildContainer): Promise<Plan>;

  /**
   * Creates the empty volume, or finds the one of an earlier attempt.
   * @throws DomainError BACKEND_FAILED, REJECTED_BY_BACKEND
   */
  abstract prepare(build: DiskBuild, report: BuildReport): Promise<BuildVolume>;

  /**
   * Runs the container to its end, or follows the one that an earlier attempt has started. When the signal is aborted
   * by a `ServiceShutdown`, the container continues.
   * @throws DomainError INVALID_SOURCE for an image that can't be pulled or started, BACKEND_FAILED with the last line
   *   of the output
   */
  abstract install(build: DiskBuild, container: BuildContainer, report: FollowedBuild): Promise<void>;

  /** Makes the VM the owner of its disk, so that they are deleted together. Does nothing if the VM does not exist. */
  abstract handOver(build: DiskBuild): Promise<void>;

  /**
   * Ends the container and removes the objects of the build; also the volume, unless a VM uses it. May be called again.
   */
  abstract remove(build: DiskBuild): Promise<void>;
}

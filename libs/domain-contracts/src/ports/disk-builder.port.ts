import type { PlanStep } from '../model/plan.js';
import type { TaskContext } from '../model/task-definition.js';

/** A disk to build from a bootable container image. */
export interface DiskBuildRequest {
  readonly image: string;
  readonly diskBytes: number;
  /** A line of an authorized_keys file, or several. */
  readonly sshKey?: string;
}

/** The rights of a container that builds a disk. A plugin lists those of its plans in its manifest. */
export type BuildPermission = 'privileged-container' | 'host-processes' | 'host-devices' | 'image-store' | 'network';

/** A container that builds a disk in a backend. */
export interface BuildContainer {
  /** The bootable image, with its registry. */
  readonly image: string;
  readonly command: readonly string[];
  readonly permissions: readonly BuildPermission[];
  /** Where the container expects the empty disk, and the SSH keys of the request. */
  readonly diskFile: string;
  readonly keysFile: string;
}

/** Receives the output of a build. */
export type BuildReport = Pick<TaskContext, 'log' | 'signal'>;

/** Receives the output of a build that continues without the service. */
export interface FollowedBuild extends BuildReport {
  /** The last saved position in the output; absent at the first attempt. */
  readonly position?: string;
  /** Called every few seconds with the position after the reported lines. */
  savePosition(position: string): Promise<void>;
}

/** Builds disks from container images, for backends that start VMs from disks only. */
export abstract class DiskBuilder {
  /** True, or the reason why no disk can be built here and the remedy. */
  abstract availability(): Promise<true | string>;

  /** True, or the reason why no container can be planned for a backend that builds disks itself, and the remedy. */
  abstract canPlan(): true | string;

  /**
   * Plans the container for a backend that builds disks itself; changes nothing.
   * @throws DomainError NOT_SUPPORTED, INVALID_SOURCE, INVALID_INPUT, INVALID_QUANTITY, PLUGIN_FAILED
   */
  abstract planContainer(
    request: DiskBuildRequest,
    volume: { readonly isBlockDevice: boolean },
  ): Promise<BuildContainer>;

  /**
   * The steps of a build; changes nothing.
   * @throws DomainError INVALID_SOURCE, INVALID_INPUT, INSUFFICIENT_STORAGE
   */
  abstract plan(request: DiskBuildRequest): Promise<readonly PlanStep[]>;

  /**
   * Pulls the image, unless this machine has it already.
   * @throws DomainError NOT_SUPPORTED, INVALID_SOURCE also for an image that is not bootable, PLUGIN_FAILED, CONFLICT
   *   when it is canceled
   */
  abstract pull(request: DiskBuildRequest, report: BuildReport): Promise<void>;

  /**
   * Installs the pulled image on a disk in a private folder, which exists until `remove` is called with the same ID.
   * Follows the container of that ID that an earlier attempt has started, instead of building again.
   * @param id distinguishes the builds: lower-case letters, digits and "-"
   * @returns a raw disk, a file on this machine
   * @throws DomainError NOT_SUPPORTED, PLUGIN_FAILED, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it is
   *   canceled
   */
  abstract install(id: string, request: DiskBuildRequest, report: FollowedBuild): Promise<string>;

  /** Ends the remains of a build, and removes its files. */
  abstract remove(id: string): Promise<void>;
}

import type { PlanStep } from '../model/plan.js';
import type { TaskContext } from '../model/task-definition.js';

/** A disk to build from a bootable container image. */
export interface DiskOrder {
  readonly image: string;
  readonly diskBytes: number;
  /** A line of an authorized_keys file, or several. */
  readonly sshKey?: string;
}

/** Receives the output of a build. */
export type BuildReport = Pick<TaskContext, 'log' | 'signal'>;

/** Builds disks from container images, for backends that start VMs from disks only. */
export abstract class DiskBuilder {
  /** True, or the reason why no disk can be built here and the remedy. */
  abstract availability(): Promise<true | string>;

  /**
   * The steps of a build; changes nothing.
   * @throws DomainError INVALID_SOURCE, INVALID_INPUT, INSUFFICIENT_STORAGE
   */
  abstract plan(order: DiskOrder): Promise<readonly PlanStep[]>;

  /**
   * Pulls the image, unless this machine has it already.
   * @throws DomainError NOT_SUPPORTED, INVALID_SOURCE also for an image that is not bootable, PLUGIN_FAILED, CONFLICT when it is canceled
   */
  abstract pull(order: DiskOrder, report: BuildReport): Promise<void>;

  /**
   * Installs the pulled image on a disk in a private folder, which exists until `remove` is called with the same ID. Whatever an
   * interrupted build of that ID has left is removed first.
   * @param id distinguishes the builds: lower-case letters, digits and "-"
   * @returns a raw disk, a file on this machine
   * @throws DomainError NOT_SUPPORTED, PLUGIN_FAILED, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it is canceled
   */
  abstract install(id: string, order: DiskOrder, report: BuildReport): Promise<string>;

  /** Ends the remains of a build, and removes its files. */
  abstract remove(id: string): Promise<void>;
}

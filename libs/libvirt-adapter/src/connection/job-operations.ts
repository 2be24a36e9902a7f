/** The work that libvirt does on a running domain as a whole, such as a migration or the saving of its memory. */
export interface DomainJob {
  /** 0 to 1; null when it is unknown. */
  readonly fraction: number | null;
}

/** The figures of a migration that has ended. Absent where libvirt does not report them. */
export interface EndedJob {
  readonly elapsedMs?: number;
  /** How long the guest was paused. */
  readonly downtimeMs?: number;
  readonly memoryBytes?: number;
}

export abstract class JobOperations {
  /** @returns undefined if there is none, or if the domain is not running */
  abstract current(uuid: string): Promise<DomainJob | undefined>;
  /** The figures of the last job. @returns undefined if libvirt has none */
  abstract last(uuid: string): Promise<EndedJob | undefined>;
  /** Asks for the end of the job, which then fails. It is not an error if there is none. */
  abstract abort(uuid: string): Promise<void>;
}

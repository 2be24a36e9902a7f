/** An instance at one moment in a twin. */
export interface TwinState {
  readonly status: string;
  readonly node?: string;
  readonly cpu: number;
  readonly memoryBytes: number;
  /** Of VMs. */
  readonly diskBytes?: number;
  readonly tags: readonly string[];
  readonly restartRequired: boolean;
  /** One sentence, when the state is a problem. */
  readonly reason?: string;
}

/** Something that happened to an instance in a twin. */
export interface TwinStep {
  /** Simulated milliseconds since the change began. */
  readonly atMs: number;
  /** A word such as `Migrating` or `FailedScheduling`. */
  readonly name: string;
  readonly detail: string;
  readonly isWarning: boolean;
}

/** What a twin shows of one instance. */
export interface TwinInstance {
  readonly ref: string;
  /** Null if it did not exist when the objects were read. */
  readonly before: TwinState | null;
  /** Null if it does not exist afterwards. */
  readonly after: TwinState | null;
  readonly steps: readonly TwinStep[];
  /** Why the change failed for it. */
  readonly error?: string;
  /** One sentence: how the outcome differs from what the plan promises. */
  readonly difference?: string;
}

/** The outcome of a change that was carried out in a simulation of its context. */
export interface TwinOutcome {
  readonly context: string;
  /** When the objects were read, in ISO 8601. */
  readonly readAt: string;
  /** How many objects the simulation has. */
  readonly objects: number;
  /** How much time has passed in it since the change began, in milliseconds. */
  readonly simulatedMs: number;
  /** Whether everything had come to rest; otherwise a limit of time was reached. */
  readonly isSettled: boolean;
  /** The instances of the change. */
  readonly targets: readonly TwinInstance[];
  /** Other instances that have changed as well. Show only those that the caller may read. */
  readonly others: readonly TwinInstance[];
  /** One sentence for each difference of the plans, and for a change that was refused as a whole. */
  readonly differences: readonly string[];
  /** One sentence for each thing that is not simulated, or was not read. */
  readonly notes: readonly string[];
}

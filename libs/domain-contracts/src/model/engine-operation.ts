/** Identifies an operation at its engine, over restarts of the service. */
export interface OperationKey {
  /** The ID of its task. */
  readonly id: string;
  /**
   * Whether the guest ran when the operation was requested, and was not asked to stop: an interrupted operation may
   * have stopped it since.
   */
  readonly wasRunning: boolean;
  /** The node on which it ran then. */
  readonly node?: string;
}

/**
 * What an engine has of an operation.
 * - `absent`: nothing; it can be requested.
 * - `running`: it has begun and not ended, whether or not the engine goes on without the service.
 * - `done`: all of it.
 */
export type OperationState =
  { readonly state: 'absent' | 'running' | 'done' } | { readonly state: 'failed'; readonly reason: string };

import type { ErrorCode } from '../values/domain-error.js';
import type { ResourceReadings } from './resource-metrics.port.js';

/** The resource usage of one context at one time, or the reason why it was not read. */
export interface SampleRound {
  readonly context: string;
  /** Milliseconds since the epoch, by the clock of the replica that has read it. */
  readonly time: number;
  readonly readings?: ResourceReadings;
  readonly problem?: { readonly code: ErrorCode; readonly message: string };
}

/**
 * Gives the resource usage that one replica has read to the others. Rounds may be lost, and they don't outlive the next
 * one.
 */
export abstract class SampleExchange {
  /** Replaces the last round of the context. @throws DomainError CONFLICT when another replica has replaced it since */
  abstract publish(round: SampleRound): Promise<void>;

  /**
   * @param listener called with the last round of each context, and each later one of another replica, until the
   *   returned function is called
   */
  abstract subscribe(listener: (round: SampleRound) => void): () => void;
}

import type { JsonObject } from '../values/json.js';

/** The bounds of a reading. */
export interface TwinReading {
  /** More objects are refused. */
  readonly maxObjects: number;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** The objects of an engine, for a simulation of it. */
export interface TwinObjects {
  /** When the reading began, in milliseconds since the epoch. */
  readonly readAt: number;
  /** The release of the engine that is simulated, if it is known. */
  readonly version?: string;
  /** As the engine reports them, without secrets, user data and the inside of pods. */
  readonly objects: readonly JsonObject[];
  /** One sentence for each kind of object that could not be read, or that is never read. */
  readonly gaps: readonly string[];
  /** The kinds that the engine does not have, because a component is not installed. */
  readonly notServed: readonly string[];
  /** Whether the account of the service may not read the nodes. */
  readonly hasNoNodes: boolean;
}

/**
 * Reads all objects of an engine that a simulation of it needs, with requests that change nothing and leave nothing
 * open. Secrets are not read.
 */
export abstract class TwinSource {
  /**
   * @throws DomainError NOT_SUPPORTED for more objects than allowed, BACKEND_FORBIDDEN when the instances can't be
   *   read, and the reason of the signal
   */
  abstract read(reading: TwinReading): Promise<TwinObjects>;
}

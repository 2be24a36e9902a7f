import type { Readable } from 'node:stream';
import type { InstanceRef } from '../values/instance-ref.js';

export interface LogRequest {
  /** Only so many of the last lines. Absent: the whole log. */
  readonly tailLines?: number;
  /** Only lines from this time on, in ISO 8601. The engine may know whole seconds only. */
  readonly since?: string;
  /** Continues with new lines until the container ends. */
  readonly follow?: boolean;
  /** The log of the run before the last restart of the program. */
  readonly previous?: boolean;
  /** Each line begins with its time in RFC 3339 and a space. */
  readonly timestamps?: boolean;
}

/** The output of containers, as their programs have written it. */
export abstract class ContainerLogs {
  /**
   * Opens the log: lines of any bytes, of any length, the oldest first. A log that ends on its own has been read
   * completely; one that breaks off is destroyed with an error.
   * @param signal ends the reading, also before the first byte
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE; WRONG_STATE for a container that is stopped or has not
   *   started yet, and where there is no previous run
   */
  abstract open(ref: InstanceRef, request: LogRequest, signal: AbortSignal): Promise<Readable>;
}

import type { InstanceRef } from '../values/instance-ref.js';

/** One thing that a backend reports about an instance. */
export interface InstanceEvent {
  /** When it happened last, ISO 8601. */
  readonly time: string;
  readonly type: 'Normal' | 'Warning';
  /** A word such as `Started` or `FailedScheduling`. */
  readonly reason: string;
  /** The object that it is about, as `Kind/name`: the instance itself, or a part of it such as its pod or volume. */
  readonly object: string;
  readonly message: string;
}

/** Reads what a backend has recorded about one instance. */
export abstract class InstanceEvents {
  /**
   * Newest first. Only events of this very instance and its parts, never of one with a similar name or of an earlier
   * one of the same name.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract recent(ref: InstanceRef, limit: number): Promise<readonly InstanceEvent[]>;
}

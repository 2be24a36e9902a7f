import type { InstanceKind, InstanceRef } from '../values/instance-ref.js';
import type { Instance } from '../model/instance.js';

export interface InstanceQuery {
  readonly kind: InstanceKind;
  readonly namespace: string;
  readonly name: string;
  readonly context?: string;
  /** Only the object with this ID. Another one that has its name by now is not found. */
  readonly uid?: string;
}

/** Finds instances in the live read model. Never asks a backend. */
export abstract class InstanceDirectory {
  /**
   * The only match in all contexts.
   * @throws DomainError INSTANCE_NOT_FOUND, NOT_READY when it may be in a context that was not listed yet,
   *   AMBIGUOUS_INSTANCE with the candidates' refs, BACKEND_UNREACHABLE when no context can be reached
   */
  abstract resolve(query: InstanceQuery): Instance;

  abstract get(ref: InstanceRef): Instance | undefined;

  /**
   * Resolves once the read model shows the result of a write, so that the caller can read it back. Also resolves after
   * `timeoutMs`: the write was accepted, and the watch will catch up.
   */
  abstract waitFor(
    ref: InstanceRef,
    isMet: (instance: Instance | undefined) => boolean,
    timeoutMs?: number,
  ): Promise<void>;
}

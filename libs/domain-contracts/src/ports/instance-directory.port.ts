import type { InstanceKind, InstanceRef } from '../values/instance-ref.js';
import type { Instance } from '../model/instance.js';

export interface InstanceQuery {
  readonly kind: InstanceKind;
  readonly namespace: string;
  readonly name: string;
  readonly context?: string;
}

/** Finds instances in the live read model. Never asks a backend. */
export abstract class InstanceDirectory {
  /**
   * Exactly one match over all contexts.
   * @throws DomainError INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE with the candidates' refs, BACKEND_UNREACHABLE when no context can be reached
   */
  abstract resolve(query: InstanceQuery): Instance;

  abstract get(ref: InstanceRef): Instance | undefined;

  /**
   * Resolves as soon as the read model shows what a write did, so that whoever writes can read it back.
   * Resolves as well after `timeoutMs`: the write was accepted, and the watch will catch up.
   */
  abstract waitFor(
    ref: InstanceRef,
    isMet: (instance: Instance | undefined) => boolean,
    timeoutMs?: number,
  ): Promise<void>;
}

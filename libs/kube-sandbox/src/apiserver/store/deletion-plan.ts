import { conflict, type Subject } from '../api-error.js';
import type { SandboxClock } from '../clock.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  /** Default Background. */
  propagationPolicy?: PropagationPolicy;
  /** Only kinds with graceful deletion (pods) support it; 0 deletes immediately. */
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

/** The finalizers that represent a propagation policy until the garbage collector has applied it. */
export const FOREGROUND_DELETION = 'foregroundDeletion';
export const ORPHAN_DEPENDENTS = 'orphan';

const FINALIZER_OF: Record<PropagationPolicy, string | undefined> = {
  Background: undefined,
  Foreground: FOREGROUND_DELETION,
  Orphan: ORPHAN_DEPENDENTS,
};

/**
 * The effect of a DELETE on one object: it removes it, or marks it when finalizers or a grace period defer the removal.
 */
export class DeletionPlan {
  private readonly graceSeconds: number;
  private readonly finalizers: string[];

  constructor(
    private readonly object: KubeObject,
    private readonly definition: ResourceDefinition,
    private readonly clock: SandboxClock,
    private readonly options: DeleteOptions,
  ) {
    this.graceSeconds = this.graceFor(definition);
    this.finalizers = this.finalizersFor(options.propagationPolicy ?? 'Background');
  }

  /** @throws ApiError 409 */
  checkPreconditions(subject: Subject): void {
    const { uid, resourceVersion } = this.options.preconditions ?? {};
    const actual = this.object.metadata;
    if (uid && uid !== actual.uid) {
      throw conflict(subject, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual.uid}`);
    }
    if (resourceVersion && resourceVersion !== actual.resourceVersion) {
      throw conflict(
        subject,
        `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${actual.resourceVersion}`,
      );
    }
  }

  isImmediate(): boolean {
    return (
      this.finalizers.length === 0 && this.graceSeconds === 0 && !this.definition.strategy?.holdsDeletion?.(this.object)
    );
  }

  mark<T extends KubeObject>(draft: T): T {
    const { metadata } = draft;
    if (!metadata.deletionTimestamp) {
      metadata.deletionTimestamp = this.clock.timestamp(this.graceSeconds * 1000);
      if (metadata.generation !== undefined) metadata.generation++;
    }
    metadata.deletionGracePeriodSeconds = this.graceSeconds;
    if (this.finalizers.length > 0) metadata.finalizers = this.finalizers;
    return draft;
  }

  /** A second DELETE can shorten the grace period but not extend it. */
  private graceFor({ strategy }: ResourceDefinition): number {
    const grace = strategy?.gracePeriodSeconds?.(this.object, this.options.gracePeriodSeconds) ?? 0;
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = this.object.metadata;
    return deletionTimestamp ? Math.min(grace, deletionGracePeriodSeconds) : grace;
  }

  private finalizersFor(policy: PropagationPolicy): string[] {
    const policies = Object.values(FINALIZER_OF);
    const present = this.object.metadata.finalizers ?? [];
    const added = FINALIZER_OF[policy];
    // A second DELETE without a policy keeps the policy of the first.
    if (this.object.metadata.deletionTimestamp && !added) return [...present];
    const others = present.filter((finalizer) => !policies.includes(finalizer));
    return added ? [...others, added] : others;
  }
}

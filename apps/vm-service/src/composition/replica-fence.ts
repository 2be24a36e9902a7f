import type { Replicas } from '@headgate/domain-contracts';

/**
 * Keeps a replica that was suspended from changing the engines: the others have taken over its work, and may have changed the same
 * instances since. The backends are opened before the store of the replicas is known.
 */
export class ReplicaFence {
  private replicas: Pick<Replicas, 'isMember'> | undefined;

  follow(replicas: Pick<Replicas, 'isMember'>): void {
    this.replicas = replicas;
  }

  /** Asked immediately before each request that changes an engine. */
  readonly mayWrite = (): boolean => this.replicas?.isMember ?? true;
}

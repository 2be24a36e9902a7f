import type { InstanceIdentity } from '@headgate/domain-contracts';

/**
 * What the service keeps of an instance: the folder, on which the scopes of tokens and roles depend, and the samples of
 * its resource usage. A move and a migration to another context give the instance another ref, and a copy has another
 * ID.
 */
export abstract class InstanceRecords {
  /**
   * Gives an instance what another one has, which keeps it: the source of a move may remain. Nothing that the instance
   * already has is replaced.
   * @throws DomainError when the folders can't be written
   */
  abstract carryOver(from: InstanceIdentity, to: InstanceIdentity): Promise<void>;

  /** Forgets an instance that no longer exists. */
  abstract forget(instance: InstanceIdentity): Promise<void>;
}

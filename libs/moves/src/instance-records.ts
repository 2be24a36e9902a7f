/** An instance under the ref that it had. */
export interface FormerInstance {
  readonly ref: string;
  /** The backend's ID of the object. */
  readonly uid: string;
}

/**
 * What the service keeps of an instance by its ref: the folder, on which the scopes of tokens and roles depend, and the samples of its
 * resource usage. A move and a migration to another context give the instance another ref. Refs are text.
 */
export abstract class InstanceRecords {
  /**
   * Gives the new ref what the old one has, which keeps it: the source of a move may remain. Nothing that the new ref already has is
   * replaced.
   * @throws DomainError when the folders can't be written
   */
  abstract carryOver(from: FormerInstance, to: string): Promise<void>;

  /** Forgets a ref whose instance no longer exists. */
  abstract forget(ref: string): Promise<void>;
}

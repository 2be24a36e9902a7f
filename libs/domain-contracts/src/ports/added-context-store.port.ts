/** A context that was added while the service ran. */
export interface AddedContext {
  readonly name: string;
  /** The word of its kind in the configuration. */
  readonly kind: string;
  /** Its settings with their secrets. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The login of the administrator who added it; empty for one without an identity. */
  readonly creator: string;
  /** ISO 8601. */
  readonly addedAt: string;
}

/** Stores the contexts that were added while the service ran. A write that has returned is durable. */
export abstract class AddedContextStore {
  /** @throws DomainError ALREADY_EXISTS */
  abstract add(context: AddedContext): Promise<void>;
  /**
   * Replaces the settings of a context in one write: a crash leaves the former or the new ones.
   * @returns whether there was one
   */
  abstract update(name: string, settings: AddedContext['settings']): Promise<boolean>;
  /** @returns whether there was one */
  abstract delete(name: string): Promise<boolean>;
  /** In the order in which they were added. */
  abstract all(): readonly AddedContext[];

  /** Calls the listener after contexts were added or deleted, until the returned function is called. */
  abstract subscribe(listener: () => void): () => void;
}

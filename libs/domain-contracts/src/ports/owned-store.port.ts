/** Something that a user has stored for themselves. */
export interface OwnedObject {
  /** The login of the user, empty for users without an identity; or the ID of the schedule that has stored it. */
  readonly owner: string;
  /** Unique among those of the owner. */
  readonly id: string;
}

/**
 * Stores objects of users. A write that has returned is durable. Reads return the writes of this process, and soon
 * afterwards those of other replicas.
 */
export abstract class OwnedStore<T extends OwnedObject> {
  /** Adds an object, or replaces the one of the same owner with the same ID. */
  abstract put(object: T): Promise<void>;
  /** @returns whether there was one */
  abstract delete(owner: string, id: string): Promise<boolean>;
  /** Those of one owner, in the order of their kind. */
  abstract of(owner: string): readonly T[];
  /** How many all owners have. */
  abstract count(): number;
}

/** A public key that a user has stored, to log in to new VMs with it. */
export interface SshKey {
  /** The login of the user; empty for users without an identity. */
  readonly owner: string;
  /** SHA-256 of the key in hexadecimal digits: the same key of one owner is one. */
  readonly id: string;
  /** The user's name for it. */
  readonly name: string;
  /** One line in the format of OpenSSH, without a comment. */
  readonly key: string;
  /** ISO 8601. */
  readonly addedAt: string;
}

/**
 * Stores the SSH public keys of users. A write that has returned is durable. Reads return the writes of this process,
 * and soon afterwards those of other replicas.
 */
export abstract class SshKeyStore {
  /** Adds a key, or replaces the same key of the same owner. */
  abstract put(key: SshKey): Promise<void>;
  /** @returns whether there was one */
  abstract delete(owner: string, id: string): Promise<boolean>;
  /** The keys of one owner, by name and then by ID. */
  abstract of(owner: string): readonly SshKey[];
  /** How many keys all owners have. */
  abstract count(): number;
}

/** The order of `SshKeyStore.of`. */
export const bySshKeyName = (a: SshKey, b: SshKey): number =>
  a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1;

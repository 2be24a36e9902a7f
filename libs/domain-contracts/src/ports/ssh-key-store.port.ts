import { OwnedStore, type OwnedObject } from './owned-store.port.js';

/** A public key that a user has stored, to log in to new VMs with it. */
export interface SshKey extends OwnedObject {
  /** SHA-256 of the key in hexadecimal digits: the same key of one owner is one. */
  readonly id: string;
  /** The user's name for it. */
  readonly name: string;
  /** One line in the format of OpenSSH, without a comment. */
  readonly key: string;
  /** ISO 8601. */
  readonly addedAt: string;
}

/** Stores the SSH public keys of users, by name and then by ID. */
export abstract class SshKeyStore extends OwnedStore<SshKey> {}

/** The order of `SshKeyStore.of`. */
export const bySshKeyName = (a: SshKey, b: SshKey): number =>
  a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1;
